/** States in their colours. The word says it all: a reader without colours misses nothing. */
import type { MemberBucket, PublicFlowState, PublicState } from '../../kernel/index.ts'
import type { Output, Style } from './output.ts'

/** Who knows whether colours can be seen. */
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

/** The state's own word, or other words in its colour. */
export function stateText(
  state: PublicState | MemberBucket | PublicFlowState,
  painter: Painter,
  text: string = state,
): string {
  const style = styles[state]
  return style === undefined ? text : painter.style(style, text)
}
