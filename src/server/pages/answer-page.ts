/** The pages behind the link of a token: what is asked, and what became of the answer. */
import type { AskedByToken, SignalReceipt } from '../../client/index.ts'
import { escaped, htmlPage } from './page.ts'

/** `key` is the idempotency key of the answer: a form that is sent twice counts once. */
export function answerPage(asked: AskedByToken, token: string, key: string): string {
  const { task, waitpoint, reason, names, by, isOpen, expiresAt } = asked
  const facts = [
    ['Task', task],
    ['Question', waitpoint],
    ...(reason === undefined ? [] : [['Reason', reason]]),
    ...(by === undefined ? [] : [['You answer as', by]]),
    ...(expiresAt === undefined ? [] : [['Open until', new Date(expiresAt).toISOString()]]),
  ].map(([name = '', value = '']) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`)
  const intro = `<h1>An answer is awaited</h1>\n<dl>${facts.join('')}</dl>`
  if (!isOpen) return htmlPage('Closed', `${intro}\n<p>It accepts no more answers.</p>`)
  const hidden = [
    ['token', token],
    ['key', key],
  ].map(([name = '', value = '']) => `<input type="hidden" name="${name}" value="${escaped(value)}">`)
  const form = `<form method="post" action="answer">
${hidden.join('')}
<label>Note (optional)<br><textarea name="note" maxlength="8000"></textarea></label>
<div>${names.length === 0 ? freeName : names.map(button).join('')}</div>
</form>`
  return htmlPage('An answer is awaited', `${intro}\n${form}`)
}

const freeName = '<label>Answer <input name="name" required maxlength="128"></label> <button>Send</button>'

function button(name: string): string {
  return `<button name="name" value="${escaped(name)}">${escaped(name)}</button>`
}

const effects: Readonly<Record<SignalReceipt['effect'], string>> = {
  resumed: 'No more answers are awaited.',
  counted: 'More answers are awaited.',
  counted_before: 'It adds nothing, because an answer of yours was counted before.',
  not_awaited: 'It does not count: another answer, or another sender, is awaited.',
  buffered: 'It is kept until the execution waits for it.',
}

/** A form that is sent again is a duplicate, whatever its answer is: the page names none. */
export function donePage(name: string, { kind, effect }: SignalReceipt): string {
  if (kind === 'duplicate') return htmlPage('Received before', SENT_BEFORE)
  const answer = `<p>You answered <strong>${escaped(name)}</strong>. ${effects[effect]}</p>`
  return htmlPage('Received', `<h1>Your answer was received</h1>\n${answer}`)
}

const SENT_BEFORE = `<h1>An answer from this page was received before</h1>
<p>Each page sends one answer, so this one was not recorded. Open the link again to see whether another answer is accepted.</p>`

export function refusalPage(message: string, advice: string): string {
  return htmlPage('Not accepted', `<h1>${escaped(message)}</h1>\n<p>${escaped(advice)}</p>`)
}
