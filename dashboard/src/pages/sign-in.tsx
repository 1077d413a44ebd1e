import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { SubmitEvent } from 'react'
import { call } from '../api/call.ts'
import { textOf } from '../parts/dialog.tsx'
import { Failed } from '../parts/views.tsx'

/** Asks for a token. The server keeps it in a cookie that no script can read. */
export function SignIn() {
  const queries = useQueryClient()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const signIn = useMutation({
    mutationFn: (token: string) => call('signIn', { body: { token } }),
    onSuccess: () => queries.resetQueries(),
  })
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const token = textOf(new FormData(event.currentTarget), 'token')
    if (token !== undefined) signIn.mutate(token)
  }
  return (
    <main className="alone">
      <form className="panel sign-in" onSubmit={submit}>
        <h1>FlowFabric</h1>
        <label className="field">
          <span className="field-label">Token</span>
          <input ref={field} name="token" type="password" autoComplete="current-password" required />
          <span className="muted">
            Made by <code>flowfabric tokens create</code>.
          </span>
        </label>
        {signIn.error !== null && <Failed error={signIn.error} />}
        <button type="submit" className="primary" disabled={signIn.isPending}>
          Sign in
        </button>
      </form>
    </main>
  )
}
