/** A page that shows one execution with the hooks, in StrictMode. The test bundles it, and reads what it shows. */
import { StrictMode, createElement as h, useState } from 'react'
import { createRoot } from 'react-dom/client'
import type { Container } from 'react-dom/client'
import { connect } from '../../src/http.ts'
import { useExecution, useFrames, useSummary } from '../../src/react.ts'

interface Page {
  readonly document: { readonly getElementById: (id: string) => Container }
  readonly location: { readonly origin: string; readonly hash: string }
}

const { document, location } = globalThis as unknown as Page
const { token, id } = JSON.parse(decodeURIComponent(location.hash.slice(1))) as { token: string; id: string }
const api = connect(location.origin, { token })

function Answer() {
  const execution = useExecution<string>(api, id)
  const { frames, status, attempt, error } = useFrames<string>(api, id, { name: 'token' })
  const { summary } = useSummary<{ stage: string }>(api, id)
  const shown = {
    state: execution.state,
    result: execution.result,
    tokens: frames.map(({ value }) => value),
    sequences: frames.map(({ sequence }) => sequence),
    stage: summary?.stage,
    status,
    attempt,
    error: error?.code,
  }
  return h('output', { id: 'shown' }, JSON.stringify(shown))
}

function Toggle() {
  const [isOpen, open] = useState(true)
  return h('div', null, h('button', { onClick: () => open(!isOpen) }, 'toggle'), isOpen ? h(Answer) : 'closed')
}

createRoot(document.getElementById('root')).render(h(StrictMode, null, h(Toggle)))
