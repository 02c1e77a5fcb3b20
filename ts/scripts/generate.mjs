// Write src/generated from docs/reference/openapi.json:
//
//     schema.ts   the types of every record and route, by openapi-typescript
//     routes.ts   method, path and record of every operation
//     shapes.ts   where records lie inside records: which names are the API's, and which are the user's own
//
//     node scripts/generate.mjs           writes the files
//     node scripts/generate.mjs --check   exits with 1 where a file is not what would be written
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import openapiTS, { astToString } from 'openapi-typescript';

const DOCUMENT = new URL('../../docs/reference/openapi.json', import.meta.url);
const FOLDER = new URL('../src/generated/', import.meta.url);
const BANNER = '// Made by `npm run generate` of docs/reference/openapi.json: change the server, not this file.\n\n';

// The document says only that these are objects: what they hold is what a request has held.
const KNOWN = { TrainingJob: { config: ['SFTConfig', 'RLConfig'] } };

const document = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
const schemas = document.components.schemas;
const nameOf = (reference) => reference.slice(reference.lastIndexOf('/') + 1);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

const files = {
  'routes.ts': routes(), // before the schemas are changed
  'shapes.ts': shapes(),
  'schema.ts': await types(),
};
let stale = false;
mkdirSync(FOLDER, { recursive: true });
for (const [name, text] of Object.entries(files)) {
  const place = new URL(name, FOLDER);
  if (process.argv.includes('--check')) {
    if (!existsSync(place) || readFileSync(place, 'utf8') !== text) {
      console.error(`${fileURLToPath(place)} is not what docs/reference/openapi.json says: run \`npm run generate\` in ts/`);
      stale = true;
    }
  } else {
    writeFileSync(place, text);
  }
}
process.exit(stale ? 1 : 0);

/** The types. A server sends each field that has a default, so in answers it is always there. */
async function types() {
  const asked = new Set();
  for (const { operation } of operations) {
    for (const content of Object.values(operation.requestBody?.content ?? {})) reach(content.schema, asked);
  }
  for (const [name, schema] of Object.entries(schemas)) {
    for (const field of Object.values(schema.properties ?? {})) delete field.title; // it says the name once more
    if (asked.has(name) || !schema.properties) continue;
    const sent = Object.keys(schema.properties).filter((field) => 'default' in schema.properties[field]);
    schema.required = [...new Set([...(schema.required ?? []), ...sent])];
  }
  return BANNER + astToString(await openapiTS(document, { defaultNonNullable: false, alphabetize: true }));
}

/** The names of all schemas that this one holds. */
function reach(schema, found) {
  if (Array.isArray(schema)) return schema.forEach((each) => reach(each, found));
  if (schema === null || typeof schema !== 'object') return;
  const name = typeof schema.$ref === 'string' ? nameOf(schema.$ref) : undefined;
  if (name !== undefined && !found.has(name)) {
    found.add(name);
    reach(schemas[name], found);
  }
  Object.values(schema).forEach((each) => reach(each, found));
}

function routes() {
  const lines = operations.map(({ path, method, operation }) => {
    const good = Object.entries(operation.responses).find(([status]) => status < 300)?.[1];
    const answer = shapeOf(good?.content?.['application/json']?.schema ?? {});
    const body = shapeOf(operation.requestBody?.content?.['application/json']?.schema ?? {});
    const creates = (operation.parameters ?? []).some((one) => one.in === 'header' && one.name === 'idempotency-key');
    return `  ${operation.operationId}: ${literal({ method, path, body, answer, creates: creates || undefined })},\n`;
  });
  const type = 'export interface Route {\n  method: string;\n  path: string;\n  body?: string;\n  answer?: string;\n  creates?: true;\n}\n\n';
  return `${BANNER}${type}export const routes = {\n${lines.join('')}} as const satisfies Record<string, Route>;\n`;
}

/** Of each record, the fields that hold records: NAME (also in a list), NAME|NAME, or {}NAME where the user chooses keys. */
function shapes() {
  const lines = [];
  for (const name of Object.keys(schemas).sort()) {
    if (!schemas[name].properties) continue;
    const held = {};
    for (const [field, schema] of Object.entries(schemas[name].properties)) {
      check(field);
      const shape = KNOWN[name]?.[field]?.join('|') ?? shapeOf(schema);
      if (shape !== undefined) held[field] = shape;
    }
    lines.push(`  ${name}: ${literal(held)},\n`);
  }
  const said = '/** Record -> its fields that hold other records. All other fields are left as they are. */\n';
  return `${BANNER}${said}export const shapes: Readonly<Record<string, Readonly<Record<string, string>>>> = {\n${lines.join('')}};\n`;
}

/** How the records lie in a value of this schema; undefined = there are none, or its keys are the user's own. */
function shapeOf(schema) {
  if (schema.$ref) return schemas[nameOf(schema.$ref)].properties ? nameOf(schema.$ref) : undefined;
  if (schema.type === 'array') return shapeOf(schema.items ?? {});
  const members = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (members) {
    const free = members.some((each) => each.type === 'object' && !each.properties && each.additionalProperties === true);
    const found = [...new Set(members.map(shapeOf).filter((each) => each !== undefined))];
    return free || found.length === 0 ? undefined : found.join('|');
  }
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object') {
    const held = shapeOf(schema.additionalProperties);
    return held === undefined ? undefined : `{}${held}`;
  }
  return undefined;
}

/** Names must be found again: SDK names are made of the document's, and the document's of the SDK's. */
function check(name) {
  const camel = name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
  const again = camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (again !== name) throw new Error(`the name ${name} becomes ${camel}, and that ${again}`);
}

function literal(object) {
  const fields = Object.entries(object).filter(([, value]) => value !== undefined);
  const written = fields.map(([name, value]) => `${name}: ${typeof value === 'string' ? `'${value}'` : value}`);
  return written.length ? `{ ${written.join(', ')} }` : '{}';
}
