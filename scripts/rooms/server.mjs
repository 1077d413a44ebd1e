/** The rooms of src/server, each with the rooms that it may import. The files directly in the folder assemble them. */
const resource = ['parts', 'auth', 'http', 'live', 'metrics', 'operations', 'pages', 'routes', 'schemas']

export const server = {
  rooms: {
    schemas: [],
    auth: ['metrics'],
    http: ['schemas'],
    live: ['http', 'schemas'],
    metrics: [],
    routes: ['parts', 'auth', 'http', 'schemas'],
    operations: ['auth', 'http', 'live'],
    pages: [],
    // The dashboard, of which only the built files are known here.
    ui: [],
    openapi: ['http', 'routes', 'schemas'],
    resources: resource,
    // Serves the handler on a port.
    node: ['auth', 'http', 'handler'],
  },
  /** Files directly in the folder that rooms may import by these names. */
  shared: {
    parts: ['server-parts.ts'],
    handler: ['handler.ts'],
  },
}
