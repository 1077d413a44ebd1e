/** Shows a secret that the server returns once. */
import { useEffect, useId, useRef } from 'react'
import { Text } from './text.tsx'

export function OnceSecret(props: { readonly title: string; readonly secret: string; readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={titleId} onClose={props.onClose}>
      <form method="dialog">
        <h2 id={titleId}>{props.title}</h2>
        <p>It is shown once. The receiver verifies with it that a delivery is from this server.</p>
        <pre tabIndex={0} aria-label="secret">
          <Text>{props.secret}</Text>
        </pre>
        <footer className="dialog-foot">
          <button type="submit" className="primary">
            I have copied it
          </button>
        </footer>
      </form>
    </dialog>
  )
}
