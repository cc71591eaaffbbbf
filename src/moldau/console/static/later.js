// Pages that are loaded when they are first opened, so that the first page stays small.
import { Failure, html, Loading, useLoad } from "./lib.js";

const AREAS = {
  transactions: ["Transactions", "x", () => import("./pages/admin/transactions.js")],
  reassignments: ["Moves", "m", () => import("./pages/admin/reassignments.js")],
  schemas: ["Schemas", "s", () => import("./pages/admin/schemas.js")],
  connect: ["Connect", "c", () => import("./pages/admin/connect.js")],
  streams: ["Streams", "q", () => import("./pages/admin/streams.js")],
  why: ["Why?", "w", () => import("./pages/admin/why.js")],
  access: ["Access", "a", () => import("./pages/admin/access.js")],
};
const PARTS = {
  producers: () => import("./pages/admin/producers.js"),
  schema: () => import("./pages/admin/topic_schema.js"),
  access_of: () => import("./pages/admin/topic_access.js"),
  me: () => import("./pages/admin/me.js"),
  api: () => import("./pages/admin/api.js"),
};
export const LATER = Object.entries(AREAS).map(([path, [name, key]]) => [name, path, key]);
export const isLater = (area) => Object.hasOwn(AREAS, area) || ["me", "api"].includes(area);

export function Later({ area, rest }) {
  const { data, error, reload } = useLoad(() => (PARTS[area] || AREAS[area][2])(), []);
  if (data) return html`<${data.Page} rest=${rest} />`;
  return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`;
}
