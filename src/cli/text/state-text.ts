/** Formats states in their colours. The colour repeats the word and adds nothing. */
import type { MemberBucket, PublicFlowState, PublicState } from '../../kernel/index.ts'
import type { Output, Style } from './output.ts'

/** Applies a style if the output supports colours. */
export type Painter = Pick<Output, 'style'>

const styles: Partial<Record<PublicState | MemberBucket | PublicFlowState, Style>> = {
  active: 'cyan',
  running: 'cyan',
  completed: 'green',
  failed: 'red',
  expired: 'red',
  cancelled: 'yellow',
  delayed: 'yellow',
  blocked: 'yellow',
  skipped: 'dim',
  superseded: 'dim',
}

/** Formats the name of the state, or another text in its colour. */
export function stateText(
  state: PublicState | MemberBucket | PublicFlowState,
  painter: Painter,
  text: string = state,
): string {
  const style = styles[state]
  return style === undefined ? text : painter.style(style, text)
}
