/** Values of users, as formatted JSON. They are shown as text, and large ones in part until asked for. */
import { useState } from 'react'
import { Text } from './text.tsx'

const SHOWN_CHARACTERS = 20_000
/** The clipboard is missing on a page that was loaded over plain HTTP under another name than localhost. */
const CAN_COPY = 'clipboard' in navigator

export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  const [isWhole, setWhole] = useState(false)
  const [isCopied, setCopied] = useState(false)
  const text = typeof value === 'string' ? JSON.stringify(value) : JSON.stringify(value, null, 2)
  const shown = isWhole ? text : text.slice(0, SHOWN_CHARACTERS)
  const copy = () => {
    void navigator.clipboard.writeText(text).then(() => setCopied(true))
  }
  return (
    <div className="json">
      {CAN_COPY && (
        <button type="button" className="json-copy" onClick={copy} aria-label={`Copy ${label}`}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
      )}
      <pre tabIndex={0} aria-label={label}>
        <Text>{shown}</Text>
      </pre>
      {shown.length < text.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </button>
      )}
    </div>
  )
}

/** A value on one line: a text as it is, everything else as JSON. */
export function inlineJson(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A value, or bytes that are none. */
export function Value(props: {
  readonly value: unknown
  readonly bytes: string | undefined
  readonly label: string
  readonly absent: string
}) {
  const { value, bytes, label, absent } = props
  if (bytes !== undefined) {
    return (
      <p className="muted">
        {Math.floor((bytes.length * 3) / 4).toLocaleString('en')} bytes that are no JSON.{' '}
        <a href={`data:application/octet-stream;base64,${bytes}`} download={label}>
          Download
        </a>
      </p>
    )
  }
  if (value === undefined) return <p className="muted">{absent}</p>
  return <Json value={value} label={label} />
}
