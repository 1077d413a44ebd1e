/** Settings that every wait has: timeout, reminders and the delay before resuming. */
import { optionKeys } from '../checks/exhaustive.ts'
import { REMINDER_MIN_MS } from '../../kernel/limits.ts'
import type { TimeoutBehaviour } from '../../kernel/model/journal-schema.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import { invalidInput, show } from '../checks/names.ts'
import type { WaitPlan } from './waitable.ts'

/**
 * What happens to an execution whose wait times out. `continue`: the handler resumes with `timed_out`.
 * `continue_with_signal`: the same, and a signal `timeout` is recorded. `escalate`: it keeps waiting without a limit, marked
 * for an operator. The others end the execution.
 */
export type OnTimeout = 'continue' | 'continue_with_signal' | 'fail' | 'cancel' | 'expire' | 'escalate'

export interface WaitSettings {
  /** How long to wait. Without a limit unless given. */
  readonly timeout?: Duration
  /** `continue` unless given. */
  readonly onTimeout?: OnTimeout
  /** Emits an event `wait_reminded` at this interval while the wait is not met. */
  readonly remind?: Duration
  /** The delay between the answer and resuming the handler. */
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

/** The checked settings of a wait. */
export type WaitTiming = Pick<WaitPlan, 'timeoutMs' | 'onTimeout' | 'remindEveryMs' | 'resumeDelayMs'>

export function parseWaitSettings(settings: WaitSettings): WaitTiming {
  const { timeout, onTimeout, remind, resumeDelay } = settings
  if (onTimeout !== undefined && timeout === undefined) {
    throw invalidInput('onTimeout', "onTimeout has no effect without a timeout: set one, such as timeout: '3d'.")
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

/** Maps a stored behaviour to its public name. */
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
