/** The frame around every screen: navigation, the state of the connection, and who is signed in. */
import { useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { MouseEvent } from 'react'
import { ApiError, call } from './api/call.ts'
import { liveLog, useLiveState } from './api/live.ts'
import { SessionContext, useSessionQuery } from './api/session.tsx'
import type { Session } from './api/types.ts'
import { Text } from './parts/text.tsx'
import { ThemeButton } from './parts/theme.tsx'
import { Failed, Loading } from './parts/views.tsx'
import { SignIn } from './pages/sign-in.tsx'

const groups = [
  {
    name: 'Work',
    screens: [
      { to: '/', label: 'Overview' },
      { to: '/executions', label: 'Executions' },
      { to: '/failures', label: 'Errors' },
      { to: '/flows', label: 'Flows' },
      { to: '/approvals', label: 'Approvals' },
      { to: '/schedules', label: 'Schedules' },
    ],
  },
  {
    name: 'Capacity',
    screens: [
      { to: '/lanes', label: 'Lanes' },
      { to: '/workers', label: 'Workers' },
      { to: '/limits', label: 'Limits' },
      { to: '/budgets', label: 'Budgets' },
      { to: '/costs', label: 'Costs' },
    ],
  },
  {
    name: 'Server',
    screens: [
      { to: '/consumers', label: 'Consumers' },
      { to: '/webhooks', label: 'Webhooks' },
      { to: '/keys', label: 'Keys' },
      { to: '/scanners', label: 'Scanners' },
      { to: '/audit', label: 'Audit' },
      { to: '/system', label: 'System' },
    ],
  },
] as const

export function App() {
  const session = useSessionQuery()
  if (session.data !== undefined) return <Frame session={session.data} />
  const { error } = session
  if (error === null) return <Loading />
  if (error instanceof ApiError && error.status === 401) return <SignIn />
  return (
    <main className="alone">
      <Failed error={error} retry={() => void session.refetch()} />
    </main>
  )
}

/** The page has a base address, so a link to an anchor would lead to the first screen. */
function skipToContent(event: MouseEvent): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

function Frame({ session }: { readonly session: Session }) {
  const queries = useQueryClient()
  useEffect(() => {
    const stop = liveLog.start()
    const stopGaps = liveLog.onGap(() => void queries.invalidateQueries())
    return () => {
      stop()
      stopGaps()
    }
  }, [queries])
  return (
    <SessionContext value={session}>
      <a className="skip" href="#main" onClick={skipToContent}>
        Skip to the content
      </a>
      <div className="frame">
        <nav className="side" aria-label="Screens">
          <Link to="/" className="brand">
            <Mark />
            FlowFabric
          </Link>
          <div className="side-screens">
            {groups.map(({ name, screens }) => (
              <div key={name} className="side-group">
                <p className="side-title" id={`side-${name}`}>
                  {name}
                </p>
                <ul aria-labelledby={`side-${name}`}>
                  {screens.map(({ to, label }) => (
                    <li key={to}>
                      <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
                        {label}
                      </Link>
                    </li>
                  ))}
                </ul>
              </div>
            ))}
          </div>
          <div className="side-foot">
            <Connection />
            <Who session={session} />
            <ThemeButton />
          </div>
        </nav>
        <Content />
      </div>
    </SessionContext>
  )
}

/** After a change of the address, the focus is on the content, so that a screen reader and the keyboard start there. */
function Content() {
  const main = useRef<HTMLElement>(null)
  const path = useRouterState({ select: (state) => state.location.pathname })
  const shown = useRef(path)
  useEffect(() => {
    if (shown.current === path) return
    shown.current = path
    main.current?.focus({ preventScroll: true })
  }, [path])
  return (
    <main id="main" ref={main} tabIndex={-1}>
      <Outlet />
    </main>
  )
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="7" className="mark-ground" />
      <path d="M9 9h14M9 16h9M9 23h5" className="mark-lines" />
    </svg>
  )
}

const connectionTexts = { connecting: 'Connecting', live: 'Live', broken: 'Reconnecting' } as const

function Connection() {
  const state = useLiveState()
  return (
    <p className="connection" data-state={state} role="status">
      <span className="state-dot" aria-hidden="true" />
      {connectionTexts[state]}
    </p>
  )
}

function Who({ session }: { readonly session: Session }) {
  const queries = useQueryClient()
  const leave = async () => {
    await call('signOut')
    await queries.resetQueries()
  }
  return (
    <p className="who">
      <Text>{session.name}</Text>, {session.role}
      {session.namespace !== undefined && (
        <>
          {' '}
          of <Text>{session.namespace}</Text>
        </>
      )}
      {session.canSignOut && (
        <button type="button" className="plain" onClick={() => void leave()}>
          Sign out
        </button>
      )}
    </p>
  )
}
