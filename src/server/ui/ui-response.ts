/** Answers requests for the dashboard: its files under `/ui/assets`, and its page under every other path of `/ui`. */
import { EngineError } from '../../kernel/engine-error.ts'
import type { UiFile, UiFiles } from './ui-files.ts'

const UI = '/ui'
const ASSETS = `${UI}/assets/`
const PAGE = 'index.html'
/** The page names the folder that its addresses are relative to, because its own address may be any below it. */
const BASE_PLACEHOLDER = '<base href="/ui/"'

/**
 * Scripts, styles and data come from this server alone, and inline ones do not run. So a text that a page showed as markup by
 * mistake could neither run a script nor send anything elsewhere.
 */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

/** The names of assets contain a hash of their content. */
const FOREVER = 'public, max-age=31536000, immutable'

/** `/` leads to the dashboard, because a person who opens the address of the server expects a page. */
export function isUiPath(path: string): boolean {
  return path === '/' || path === UI || path.startsWith(`${UI}/`)
}

/** `path` is below `basePath`, the path of the mount. */
export async function uiResponse(request: Request, path: string, basePath: string, files: UiFiles): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw new EngineError('method_not_allowed')
  if (path === '/' || path === UI) return redirect(`${basePath}${UI}/`)
  if (path.startsWith(ASSETS)) {
    const file = await files.find(path.slice(UI.length + 1))
    if (file === undefined) throw new EngineError('route_not_found')
    return fileResponse(request, file, { 'cache-control': FOREVER })
  }
  const page = await files.find(PAGE)
  if (page === undefined) {
    throw new EngineError('route_not_found', {
      message: 'This installation has no dashboard: "npm run build" makes it.',
    })
  }
  const html = Buffer.from(page.bytes).toString('utf8').replace(BASE_PLACEHOLDER, `<base href="${basePath}${UI}/"`)
  return new Response(html, { headers: { 'content-type': page.type, 'content-security-policy': CONTENT_POLICY } })
}

function fileResponse(request: Request, file: UiFile, headers: Readonly<Record<string, string>>): Response {
  const accepted = request.headers.get('accept-encoding') ?? ''
  const isCompressed = file.gzipped !== undefined && /\bgzip\b/.test(accepted)
  return new Response(Buffer.from(isCompressed ? file.gzipped : file.bytes), {
    headers: {
      'content-type': file.type,
      vary: 'Accept-Encoding',
      ...headers,
      ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    },
  })
}

function redirect(location: string): Response {
  return new Response(null, { status: 302, headers: { location } })
}
