/** Small pages: one file, no script, nothing from elsewhere. */

const STYLE = `
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2.5rem } h3 { font-size: 1rem; margin: 2rem 0 .3rem }
code, pre { font: 14px/1.5 ui-monospace, monospace } pre { overflow: auto; padding: .7rem; border: 1px solid #8885 }
textarea { width: 100%; box-sizing: border-box; font: inherit; min-height: 6rem }
button { font: inherit; padding: .5rem 1.2rem; margin: .8rem .8rem 0 0 }
dt { font-weight: 600 } dd { margin: 0 0 .6rem }
table { border-collapse: collapse } td, th { text-align: left; padding: .2rem 1rem .2rem 0; vertical-align: top }
`

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Makes a text safe in HTML, also in an attribute. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter)
}

/** `body` is HTML whose texts are escaped. */
export function htmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`
}

export function pageResponse(status: number, html: string): Response {
  return new Response(html, { status, headers: { 'content-type': 'text/html; charset=utf-8' } })
}
