/** Generates docs/http-routes.md, which lists every route of the HTTP API, from the table of routes. */
import { api } from '../../src/server/resources/api.ts'
import type { AnyRoute } from '../../src/server/routes/route.ts'
import { GENERATED, code, list } from './markdown.ts'

export function routesPage(): string {
  const routes: readonly AnyRoute[] = api
  const tags = [...new Set(routes.map(({ tag }) => tag))]
  const sections = tags.map((tag) => {
    const items = routes.filter((route) => route.tag === tag).map(routeText)
    return `## ${tag.charAt(0).toUpperCase()}${tag.slice(1)}\n\n${list(items)}`
  })
  return `${GENERATED}

# Routes of the HTTP API

Each entry has the role that the route needs. ${code('/v1/openapi.json')} of a server describes parameters, bodies and answers, and
${code('/v1/docs')} shows them as a page. [http.md](http.md) describes what the routes have in common.

${sections.join('\n\n')}
`
}

function routeText({ method, path, summary, access, scope }: AnyRoute): string {
  const needs = access === 'public' ? 'no credentials' : access === 'token' ? 'the token of a link' : access
  const reach = scope === 'store' && access !== 'public' ? ', for all namespaces' : ''
  return `${code(`${method} ${path}`)} (${needs}${reach}): ${summary}.`
}
