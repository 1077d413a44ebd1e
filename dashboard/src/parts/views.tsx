/** The states that every screen has: loading, empty, refused and broken. */
import type { ReactNode } from 'react'
import { ApiError } from '../api/call.ts'
import { Text } from './text.tsx'

export function Loading({ label = 'Loading' }: { readonly label?: string }) {
  return (
    <div className="loading" role="status">
      <span className="visually-hidden">{label}</span>
      <span className="bar" />
      <span className="bar" />
      <span className="bar" />
    </div>
  )
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  )
}

export function Failed({ error, retry }: { readonly error: Error; readonly retry?: () => void }) {
  const isForbidden = error instanceof ApiError && error.code === 'forbidden'
  const advice = error instanceof ApiError ? error.advice : undefined
  return (
    <div className="notice" data-kind={isForbidden ? 'forbidden' : 'error'} role="alert">
      <p>
        <strong>{isForbidden ? 'Your role does not permit this. ' : ''}</strong>
        <Text>{error.message}</Text>
      </p>
      {advice !== undefined && <p className="muted">{advice}</p>}
      {retry !== undefined && !isForbidden && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

interface QueryLike<Data> {
  readonly data: Data | undefined
  readonly error: Error | null
  readonly refetch: () => unknown
}

/** Shows the data of a query once it is there. Data stays while a later read fails. */
export function Loaded<Data>(props: { readonly query: QueryLike<Data>; readonly children: (data: Data) => ReactNode }) {
  const { query, children } = props
  const { data, error } = query
  if (data === undefined) {
    return error === null ? <Loading /> : <Failed error={error} retry={() => void query.refetch()} />
  }
  return (
    <>
      {error !== null && <Failed error={error} retry={() => void query.refetch()} />}
      {children(data)}
    </>
  )
}

export function Page(props: { readonly title: ReactNode; readonly actions?: ReactNode; readonly children: ReactNode }) {
  return (
    <>
      <header className="page-head">
        <h1 tabIndex={-1}>{props.title}</h1>
        <div className="page-actions">{props.actions}</div>
      </header>
      {props.children}
    </>
  )
}

export function Panel(props: {
  readonly title: ReactNode
  readonly aside?: ReactNode
  readonly children: ReactNode
  readonly isFlush?: boolean
}) {
  return (
    <section className="panel" data-flush={props.isFlush === true}>
      <header className="panel-head">
        <h2>{props.title}</h2>
        {props.aside}
      </header>
      <div className="panel-body">{props.children}</div>
    </section>
  )
}

/** Names and their values. Absent values are left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
