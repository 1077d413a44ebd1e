/** Who sends a request, and what that permits. */
import { EngineError } from '../../kernel/engine-error.ts'
import { required, shape, oneOf } from '../../options/shape.ts'
import { checkNamespace, checkPrincipal } from '../../client/index.ts'

/** Each role includes the ones before it. */
export const roles = ['viewer', 'worker', 'operator', 'admin'] as const

/**
 * `viewer` reads. `worker` also submits work and sends signals, as a program does. `operator` also cancels, replays, resumes,
 * and holds lanes. `admin` may do everything.
 */
export type Role = (typeof roles)[number]

/** Who may call a route. `public`: without credentials. `token`: the request contains a token of its own. Else the least role. */
export type Access = 'public' | 'token' | Role

/**
 * `namespace`: acts in one namespace, which a credential may be bound to. `store`: concerns all namespaces. `caller`: concerns the
 * sender of the request alone, whose namespace need not be served here.
 */
export type Scope = 'namespace' | 'store' | 'caller'

export interface Principal {
  /** Recorded with what the request changes. */
  readonly name: string
  readonly role: Role
  /** The only namespace that it reaches. All unless given. */
  readonly namespace?: string | undefined
}

/** Who calls a route. */
export interface Caller extends Principal {
  /** Set for the holder of a read token: the only execution that it reads. */
  readonly execution?: string
}

/** The caller of a server without authentication. */
export const ANONYMOUS: Principal = { name: 'http', role: 'admin' }

/** Checks what a hook of the user returns. */
export const checkedPrincipal = shape<Principal>()("{ name: 'ada', role: 'operator' }", {
  name: required(checkPrincipal),
  role: required(oneOf<Role>(roles)),
  namespace: checkNamespace,
})

export function isAtLeast(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least)
}

/** Refuses a principal that a route does not permit. */
export function refuseUnlessPermitted(principal: Principal, access: Access, scope: Scope): void {
  if (access === 'public' || access === 'token') return
  if (!isAtLeast(principal.role, access)) {
    throw forbidden(`It needs the role ${access}, and '${principal.name}' has the role ${principal.role}.`)
  }
  if (scope !== 'store' || principal.namespace === undefined) return
  throw forbidden(
    `It concerns all namespaces, and '${principal.name}' is bound to the namespace '${principal.namespace}'.`,
  )
}

/** Refuses the holder of a read token what is not for readers of its execution. */
export function refuseUnlessReadable({ execution }: Caller, isReadable: boolean, asked: string | undefined): void {
  if (execution === undefined || (isReadable && asked === execution)) return
  throw forbidden(
    'The token reads the result, the events, the frames and the summary of one execution, and nothing else.',
  )
}

/** Whether a caller gets the values of users, on a server that withholds them from viewers. */
export function seesValues({ role, execution }: Caller): boolean {
  return role !== 'viewer' || execution !== undefined
}

/** Returns the namespace of a request: the wanted one, else that of the principal. Undefined covers all. */
export function namespaceOf(principal: Principal, wanted: string | undefined): string | undefined {
  if (wanted === undefined || principal.namespace === undefined || wanted === principal.namespace) {
    return wanted ?? principal.namespace
  }
  throw forbidden(`'${principal.name}' is bound to the namespace '${principal.namespace}'.`)
}

/** Refuses a principal of a namespace that a server, whose fabric is bound to another one, does not serve. */
export function refuseUnlessServed(
  { name, namespace }: Principal,
  served: { readonly isBound: boolean; readonly namespace: string },
): void {
  if (namespace === undefined || !served.isBound || namespace === served.namespace) return
  throw forbidden(
    `'${name}' is bound to the namespace '${namespace}', and this server serves '${served.namespace}' only.`,
  )
}

/** Returns whom a change is recorded for. Only operators may name another principal, such as the user of their own tool. */
export function actorOf(principal: Principal, by: string | undefined): string {
  if (by === undefined || by === principal.name || isAtLeast(principal.role, 'operator')) return by ?? principal.name
  throw forbidden(
    `Only an operator may act in the name of another, and '${principal.name}' has the role ${principal.role}.`,
  )
}

function forbidden(message: string): EngineError {
  return new EngineError('forbidden', { message })
}
