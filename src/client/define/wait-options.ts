/** Settings that every wait has: timeout, reminders and the delay before resuming. */
import { oneOf, shape } from '../../options/shape.ts'
import { REMINDER_MIN_MS } from '../../kernel/limits.ts'
import type { TimeoutBehaviour } from '../../kernel/model/journal-schema.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import { invalidInput } from '../checks/names.ts'
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

const behaviours: Readonly<Record<OnTimeout, TimeoutBehaviour>> = {
  continue: 'resume',
  continue_with_signal: 'resume_with_signal',
  fail: 'fail',
  cancel: 'cancel',
  expire: 'expire',
  escalate: 'escalate',
}

export const waitSettings = shape<WaitSettings>()("{ timeout: '3d' }", {
  timeout: parseDuration,
  onTimeout: oneOf(behaviours),
  remind: (value, field) => parseDuration(value, field, REMINDER_MIN_MS),
  resumeDelay: parseDuration,
})

/** The settings of a wait as they are stored. */
export type WaitTiming = Pick<WaitPlan, 'timeoutMs' | 'onTimeout' | 'remindEveryMs' | 'resumeDelayMs'>

export function timingOf(settings: ReturnType<typeof waitSettings>): WaitTiming {
  const { timeout, onTimeout, remind, resumeDelay } = settings
  if (onTimeout !== undefined && timeout === undefined) {
    throw invalidInput('onTimeout', "onTimeout has no effect without a timeout: set one, such as timeout: '3d'.")
  }
  return {
    timeoutMs: timeout,
    onTimeout: behaviours[onTimeout ?? 'continue'],
    remindEveryMs: remind,
    resumeDelayMs: resumeDelay,
  }
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
