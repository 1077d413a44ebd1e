/** Who uses the page, and what that permits. */
import { useQuery } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { call } from './call.ts'
import type { Session } from './types.ts'

const ROLES: readonly Session['role'][] = ['viewer', 'worker', 'operator', 'admin']

export function useSessionQuery() {
  return useQuery({ queryKey: ['session'], queryFn: ({ signal }) => call('getSession', { signal }), retry: false })
}

export const SessionContext = createContext<Session>({ name: '', role: 'viewer', canSignOut: false })

export function useSession(): Session {
  return useContext(SessionContext)
}

/** Whether the person may do what needs a role. */
export function useMay(role: Session['role']): boolean {
  return ROLES.indexOf(useSession().role) >= ROLES.indexOf(role)
}
