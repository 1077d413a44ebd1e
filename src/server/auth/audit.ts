/** A trail of what operators did: who, what, why, and whether it was done. */
import { appendFile } from 'node:fs/promises'
import { EngineError } from '../../kernel/engine-error.ts'
import { errorFields } from '../../runtime/index.ts'
import type { Log } from '../../runtime/index.ts'
import type { Role } from './principal.ts'

/** One request of an operator that would change something, also if it was refused. */
export interface AuditEntry {
  readonly at: number
  readonly requestId: string
  /** The name and the role of the credentials. */
  readonly credential: string
  readonly role: Role
  /** In whose name it was done, if the request names one. */
  readonly by: string | undefined
  /** The namespace that it acted in; undefined for the store as a whole, or all namespaces. */
  readonly namespace: string | undefined
  readonly address: string | undefined
  /** The name of the route, such as `cancelExecution`. */
  readonly action: string
  /** What it concerned: the parameters of the path. */
  readonly target: Readonly<Record<string, string>>
  readonly reason: string | undefined
  readonly status: number
  /** The code of the refusal. */
  readonly code: string | undefined
}

/** Records an entry. The request is answered when this has resolved. */
export type Audit = (entry: AuditEntry) => void | Promise<void>

const OWNER_ONLY = 0o600

/** Appends entries to a file, one line of JSON each. The file may be renamed at any time: the next entry creates it again. */
export function auditFile(file: string): Audit {
  let last: Promise<void> = Promise.resolve()
  return (entry) => {
    const line = `${JSON.stringify(entry)}\n`
    last = last.catch(() => undefined).then(() => appendFile(file, line, { mode: OWNER_ONLY, flush: true }))
    return last
  }
}

/** Creates the file unless it exists. Throws `invalid_configuration` if it cannot be written, before any action depends on it. */
export async function checkAuditFile(file: string): Promise<void> {
  try {
    await appendFile(file, '', { mode: OWNER_ONLY })
  } catch (error) {
    const { code = 'an error' } = error as NodeJS.ErrnoException
    const message = `The audit file ${file} cannot be written: ${code}. Name a file in a folder that this user may write to.`
    throw new EngineError('invalid_configuration', { field: 'auditFile', message }, { cause: error })
  }
}

/** The action is done when its entry is written, so a trail that fails is reported and changes no answer. */
export async function record(audit: Audit, entry: AuditEntry, log: Log): Promise<void> {
  try {
    await audit(entry)
  } catch (error) {
    const { requestId, action, credential } = entry
    log.error(
      { requestId, action, credential, ...errorFields(error) },
      'the audit entry of an action could not be recorded',
    )
  }
}
