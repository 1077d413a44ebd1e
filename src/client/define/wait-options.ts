/** What every wait can be told besides what it waits for: how long, what then, and how often to remind. */
import { optionKeys } from '../checks/exhaustive.ts'
import { REMINDER_MIN_MS } from '../../kernel/limits.ts'
import type { TimeoutBehaviour } from '../../kernel/model/journal-records.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import { invalidInput, show } from '../checks/names.ts'
import type { WaitPlan } from './waitable.ts'

/**
 * What becomes of an execution whose wait is not answered in time. `continue`: its handler goes on and is told.
 * `continue_with_signal`: the same, and a signal `timeout` is recorded. `escalate`: it waits on without a limit, marked for
 * an operator. The others end the execution.
 */
export type OnTimeout = 'continue' | 'continue_with_signal' | 'fail' | 'cancel' | 'expire' | 'escalate'

export interface WaitSettings {
  /** How long to wait. For ever if left out. */
  readonly timeout?: Duration
  /** `continue` unless given. */
  readonly onTimeout?: OnTimeout
  /** Emits an event `wait_reminded` this often while nobody has answered. */
  readonly remind?: Duration
  /** How long the execution rests between its answer and going on. */
  readonly resumeDelay?: Duration
}

export const WAIT_SETTING_KEYS = optionKeys<WaitSettings>()(['timeout', 'onTimeout', 'remind', 'resumeDelay'])

const behaviours: Readonly<Record<OnTimeout, TimeoutBehaviour>> = {
  continue: 'resume',
  continue_with_signal: 'resume_with_signal',
  fail: 'fail',
  cancel: 'cancel',
  expire: 'expire',
  escalate: 'escalate',
}

/** What the settings of a wait come to once they are checked. */
export type WaitTiming = Pick<WaitPlan, 'timeoutMs' | 'onTimeout' | 'remindEveryMs' | 'resumeDelayMs'>

export function parseWaitSettings(settings: WaitSettings): WaitTiming {
  const { timeout, onTimeout, remind, resumeDelay } = settings
  if (onTimeout !== undefined && timeout === undefined) {
    throw invalidInput('onTimeout', "onTimeout says what happens once time is up: say how long with timeout: '3d'.")
  }
  return {
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout, 'timeout'),
    onTimeout: parseOnTimeout(onTimeout ?? 'continue'),
    remindEveryMs: remind === undefined ? undefined : parseDuration(remind, 'remind', REMINDER_MIN_MS),
    resumeDelayMs: resumeDelay === undefined ? undefined : parseDuration(resumeDelay, 'resumeDelay'),
  }
}

function parseOnTimeout(value: OnTimeout): TimeoutBehaviour {
  if (Object.hasOwn(behaviours, value)) return behaviours[value]
  const known = Object.keys(behaviours).map((each) => `'${each}'`)
  throw invalidInput('onTimeout', `onTimeout is ${show(value)}, but must be one of ${known.join(', ')}.`)
}

/** The word of the surface for what the store knows. */
export function onTimeoutOf(behaviour: TimeoutBehaviour): OnTimeout {
  switch (behaviour) {
    case 'resume':
      return 'continue'
    case 'resume_with_signal':
      return 'continue_with_signal'
    default:
      return behaviour
  }
}
