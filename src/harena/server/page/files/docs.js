// The reference of the API, out of this server's own OpenAPI document.
import { el, fill } from "./dom.js";

const main = document.querySelector("main");
const METHODS = ["get", "post", "put", "delete", "patch"];
/** Levels of a schema that are laid out before somebody opens them. */
const DEEP = 12;

const document_ = await (await fetch(new URL("openapi.json", document.baseURI))).json();
const schemas = document_.components?.schemas ?? {};

function resolved(schema) {
  return schema?.$ref ? schemas[schema.$ref.split("/").pop()] ?? document_.components.responses?.[schema.$ref.split("/").pop()] ?? {} : schema ?? {};
}

function nameOf(schema) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return options.map(nameOf).join(" | ");
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `${nameOf(schema.items ?? {})}[]`;
  if (schema.additionalProperties && typeof schema.additionalProperties === "object") return `{name: ${nameOf(schema.additionalProperties)}}`;
  return schema.type ?? "any";
}

function bounds(schema) {
  const words = { minimum: "≥", maximum: "≤", exclusiveMinimum: ">", exclusiveMaximum: "<", maxLength: "characters ≤", maxItems: "entries ≤", pattern: "like" };
  const said = Object.entries(words).filter(([name]) => schema[name] !== undefined).map(([name, word]) => `${word} ${schema[name]}`);
  if (schema.default !== undefined) said.push(`default ${JSON.stringify(schema.default)}`);
  return said.join(", ");
}

/** The schemas that a schema names, itself or in its parts. */
function inside(schema) {
  if (schema.$ref) return [schema.$ref];
  return [schema.items, schema.additionalProperties, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
    .filter((one) => one && typeof one === "object").flatMap(inside);
}

/** A schema's fields; those of a schema inside it are made when they are opened. */
function fields(schema, deep = 0) {
  const of = resolved(schema);
  const properties = Object.entries(of.properties ?? {});
  return el("div.schema", of.description ? el("p", of.description) : null, of.enum ? el("p", nameOf(of)) : null,
    properties.map(([name, field]) => {
      const line = [el("b", name), of.required?.includes(name) ? el("span.problem", " *") : null, " ", el("code", nameOf(field)), el("span.note", ` ${bounds(field)}`)];
      const told = field.description ? el("p", field.description) : null;
      const inner = deep < DEEP ? [...new Set(inside(field))] : [];
      return inner.length ? el("div", lazy(line, () => inner.map(($ref) => fields({ $ref }, deep + 1))), told) : el("div", line, told);
    }));
}

function lazy(summary, make) {
  const made = el("details", el("summary", summary));
  made.addEventListener("toggle", () => { if (made.open && made.childElementCount === 1) made.append(...[make()].flat(Infinity)); });
  return made;
}

function route(path, method, of, shared) {
  const parameters = [...(shared ?? []), ...(of.parameters ?? [])].map(resolved);
  const body = of.requestBody ? Object.entries(of.requestBody.content ?? {}) : [];
  return lazy(el("span.route", el("span.method", { class: `method ${method}` }, method.toUpperCase()), el("span", el("code", path), of.description ? el("span.note", ` ${of.description.split("\n")[0]}`) : null)), () =>
    el("div.schema", of.description ? el("p.told", of.description) : null,
      parameters.length ? [el("h3", "Parameters"), parameters.map((one) => el("div", el("b", one.name), el("span.note", ` in ${one.in} `), el("code", nameOf(one.schema ?? {})), el("span.note", ` ${bounds(one.schema ?? {})}`), one.required ? el("span.problem", " *") : null))] : null,
      body.map(([kind, content]) => [el("h3", `Body, ${kind}`), fields(content.schema ?? {})]),
      Object.entries(of.responses ?? {}).map(([status, answer]) => {
        const whole = resolved(answer);
        const content = Object.entries(whole.content ?? {});
        return lazy([el("b", status), " ", whole.description ?? ""], () => content.length ? content.map(([kind, one]) => [el("span.note", kind), fields(one.schema ?? {})]) : el("p.note", "no body"));
      })));
}

const groups = new Map();
for (const [path, methods] of Object.entries(document_.paths)) {
  for (const method of METHODS.filter((one) => methods[one])) {
    const noun = path.startsWith("/v1/") ? path.split("/")[2].replaceAll("_", " ") : "the server";
    if (!groups.has(noun)) groups.set(noun, []);
    groups.get(noun).push({ text: `${method} ${path} ${methods[method].description ?? ""}`.toLowerCase(), element: route(path, method, methods[method], methods.parameters) });
  }
}
const sections = [...groups].sort(([one], [other]) => one.localeCompare(other)).map(([noun, routes]) =>
  ({ routes, element: el("section", el("h2", noun), routes.map((one) => one.element)) }));
const search = el("input", { type: "search", placeholder: "path or word", "aria-label": "Search routes", oninput: () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const { routes, element } of sections) {
    for (const one of routes) one.element.hidden = !words.every((word) => one.text.includes(word));
    element.hidden = routes.every((one) => one.element.hidden);
  }
} });
fill(main, el("h1", `${document_.info.title} API ${document_.info.version}`), el("p.told", document_.info.summary ?? ""), el("p.told", document_.info.description ?? ""),
  el("p.note", "Send your key as `Authorization: Bearer KEY`. A star marks what has to be given."), el("div.bar", search), sections.map((one) => one.element));
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input")) { event.preventDefault(); search.focus(); }
});
