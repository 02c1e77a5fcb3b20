// A table of any length of which only the rows that can be seen are laid out. Arrow keys, Page Up and Down, Home and
// End move through it, Enter opens a row; a column's name sorts by it.
import { el, fill, framed, said } from "./dom.js";

const HEIGHT = 30;
/** Rows that are laid out above and below what can be seen. */
const BEYOND = 6;

/**
 * `columns`: {name, width, value(row) for sorting, show(row) for the cell, number, wide (left out on narrow screens)}.
 * `key(row)` tells that a row of the next `set` is the same one: its element stays, and of its cells those that changed
 * are replaced, so that nothing vanishes under a pointer. Without it a row is its object.
 */
export function rows(columns, { open = null, label, none = "nothing yet", chosen = null, key = (one) => one } = {}) {
  let all = [];
  let order = [];
  let sorted = null;
  let keeps = null;
  let at = -1;
  /** The elements of the rows that are laid out, by their keys. */
  let laid = new Map();
  const head = el("div.head", { role: "row" });
  const space = el("div");
  const body = el("div.body", { tabindex: "0", role: "rowgroup", onscroll: framed(draw), onkeydown: pressed });
  const table = el("div.rows", { role: "grid", "aria-label": label, tabindex: "-1" }, head, body);
  const resized = new ResizeObserver(framed(draw));
  resized.observe(body);
  const narrow = matchMedia("(max-width: 640px)");

  function seen() {
    return columns.filter((column) => !(column.wide && narrow.matches));
  }

  function drawHead() {
    head.style.setProperty("grid-template-columns", seen().map((column) => column.width ?? "minmax(0, 1fr)").join(" "));
    fill(head, seen().map((column) => el("button", {
      type: "button",
      role: "columnheader",
      class: column.number ? "num" : null,
      "aria-sort": sorted?.column === column ? (sorted.down ? "descending" : "ascending") : "none",
      onclick: () => sort(column),
    }, column.name, sorted?.column === column ? (sorted.down ? " ↓" : " ↑") : "")));
  }

  function sort(column) {
    if (!column.value) return;
    if (sorted?.column !== column) sorted = { column, down: Boolean(column.number) };
    else if (sorted.down === Boolean(column.number)) sorted.down = !sorted.down;
    else sorted = null;
    body.scrollTop = 0;
    drawHead();
    arrange();
  }

  function arrange() {
    const marked = at in order ? key(order[at]) : undefined;
    order = keeps ? all.filter(keeps) : all.slice();
    if (sorted) {
      const { column, down } = sorted;
      const sign = down ? -1 : 1;
      const keyed = order.map((row) => [column.value(row), row]);
      keyed.sort(([one], [other]) => {
        if (one === other) return 0;
        if (one === null || one === undefined) return 1;  // what has no value comes last in both directions
        if (other === null || other === undefined) return -1;
        return (one < other ? -1 : 1) * sign;
      });
      order = keyed.map(([, row]) => row);
    }
    at = marked === undefined ? -1 : order.findIndex((one) => key(one) === marked);
    table.setAttribute("aria-rowcount", String(order.length));
    draw();
  }

  function draw() {
    space.style.setProperty("height", `${order.length * HEIGHT}px`);
    body.style.setProperty("height", `${Math.max(1, Math.min(order.length, 500)) * HEIGHT + 2}px`);
    if (!order.length) {
      body.style.setProperty("height", "54px");
      laid = new Map();
      fill(body, el("div.none", none));
      return;
    }
    const first = Math.max(0, Math.floor(body.scrollTop / HEIGHT) - BEYOND);
    const last = Math.min(order.length, Math.ceil((body.scrollTop + body.clientHeight) / HEIGHT) + BEYOND);
    const next = new Map();
    for (let place = first; place < last; place++) {
      const one = order[place];
      const named = next.has(key(one)) ? one : key(one);  // two rows of one key: the second is its object
      const element = laid.get(named) ?? el("div.row", { role: "row", onclick: clicked });
      next.set(named, element);
      show(element, place);
    }
    for (const [named, element] of laid) if (next.get(named) !== element) element.remove();
    laid = next;
    body.querySelector(".none")?.remove();
    [space, ...laid.values()].forEach((element, place) => {
      if (body.children[place] !== element) body.insertBefore(element, body.children[place] ?? null);
    });
  }

  /** Where the row of an element is in `order`. */
  const placed = new WeakMap();

  function clicked(event) {
    at = placed.get(event.currentTarget);
    if (!event.target.closest("a, button, input, label")) open?.(order[at]);
    draw();
  }

  function show(element, place) {
    const one = order[place];
    placed.set(element, place);
    element.classList.toggle("chosen", Boolean(place === at || chosen?.(one)));
    element.setAttribute("aria-rowindex", String(place + 1));
    element.setAttribute("aria-selected", String(place === at));
    element.style.setProperty("top", `${place * HEIGHT}px`);
    element.style.setProperty("grid-template-columns", head.style.getPropertyValue("grid-template-columns"));
    const cells = seen().map((column) => {
      // values may be anything that a file holds: without a function that shows them they are texts
      const shown = column.show ? column.show(one) : said(column.value(one) ?? "");
      return el(column.number ? "span.num" : "span", { role: "gridcell" }, shown);
    });
    if (element.children.length !== cells.length) fill(element, cells);
    else cells.forEach((cell, column) => { if (!same(cell, element.children[column])) element.children[column].replaceWith(cell); });
  }

  function pressed(event) {
    const page = Math.max(1, Math.floor(body.clientHeight / HEIGHT) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: page, PageUp: -page, Home: -order.length, End: order.length };
    if (event.target !== body || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps && order.length) {
      at = Math.max(0, Math.min(order.length - 1, at + steps[event.key]));
      if (at * HEIGHT < body.scrollTop) body.scrollTop = at * HEIGHT;
      if ((at + 1) * HEIGHT > body.scrollTop + body.clientHeight) body.scrollTop = (at + 1) * HEIGHT - body.clientHeight;
      event.preventDefault();
      event.stopPropagation();
      draw();
    } else if (event.key === "Enter" && order[at]) {
      event.preventDefault();
      open?.(order[at]);
      draw();
    }
  }

  narrow.addEventListener("change", () => { drawHead(); draw(); });
  drawHead();
  draw();
  return {
    element: table,
    /** Show these rows. */
    set(next) { all = next; arrange(); },
    /** Show those rows only of which this says yes; null = all. */
    keep(rule) { keeps = rule; body.scrollTop = 0; arrange(); },
    redraw: framed(draw),
    get count() { return order.length; },
  };
}

/** Whether two cells show the same; whether a box is checked is no part of its markup. */
function same(one, other) {
  const boxes = (cell) => [...cell.querySelectorAll("input")].map((box) => box.checked).join();
  return one.isEqualNode(other) && boxes(one) === boxes(other);
}
