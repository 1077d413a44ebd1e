/** The OpenAPI document as a page for people. It works without a network. */
import { escaped, htmlPage } from './page.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: unknown
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: unknown }>>
}

interface Operation {
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>
}

interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

export function docsPage(document: string): string {
  const { info, paths, components } = JSON.parse(document) as OpenApi
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags))]
  const sections = tags.map((tag) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(tag))
    return `<h2>${escaped(tag)}</h2>${own.map(operationHtml).join('')}`
  })
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `<h3 id="schema-${escaped(name)}">${escaped(name)}</h3>${jsonHtml(schema)}`,
  )
  const head = `<h1>${escaped(info.title)} ${escaped(info.version)}</h1><p>${escaped(info.description)} This page as data: <a href="openapi.json">openapi.json</a>.</p>`
  return htmlPage(`${info.title} API`, `${head}${sections.join('')}<h2>Schemas</h2>${schemas.join('')}`)
}

function operationHtml(each: {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}): string {
  const { path, method, operation } = each
  const { summary, description, parameters, requestBody, responses } = operation
  const rows = parameters.map(
    ({ name, in: place, required, description: text = '', schema }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${escaped(place)}${required ? ', required' : ''}</td><td>${escaped(text)} ${typeHtml(schema)}</td></tr>`,
  )
  const answers = Object.entries(responses).map(
    ([status, answer]) =>
      `<tr><td><code>${escaped(status)}</code></td><td>${markedHtml(answer.description)} ${contentHtml(answer)}</td></tr>`,
  )
  return `<h3><code>${escaped(method)} ${escaped(path)}</code></h3>
<p>${escaped(summary)}. ${markedHtml(description)}</p>
${rows.length === 0 ? '' : `<table>${rows.join('')}</table>`}
${requestBody === undefined ? '' : `<p>Body:</p>${contentHtml(requestBody)}`}
<details><summary>Answers</summary><table>${answers.join('')}</table></details>`
}

function contentHtml({ content = {} }: Content): string {
  return Object.entries(content)
    .map(([type, { schema }]) => `<code>${escaped(type)}</code> ${typeHtml(schema)}`)
    .join(' ')
}

/** A link to a schema with a name, or the schema itself. */
function typeHtml(schema: unknown): string {
  const reference = (schema as { readonly $ref?: unknown }).$ref
  if (typeof reference !== 'string') return jsonHtml(schema)
  const name = reference.slice(reference.lastIndexOf('/') + 1)
  return `<a href="#schema-${escaped(name)}">${escaped(name)}</a>`
}

function jsonHtml(value: unknown): string {
  const text = JSON.stringify(value, null, 2)
  return text.length <= INLINE_LENGTH ? `<code>${escaped(JSON.stringify(value))}</code>` : `<pre>${escaped(text)}</pre>`
}

/** Longer schemas are shown on lines of their own. */
const INLINE_LENGTH = 80

/** Texts in backquotes are code. */
function markedHtml(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}
