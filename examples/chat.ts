/**
 * A chat whose replies are executions, with the chat of the AI SDK. The page is reloaded in the middle of a reply: the reply is written
 * meanwhile, and the new page continues to show it. A message that is sent twice is answered once.
 *
 *   npx node examples/chat.ts
 */
import { setTimeout as pause } from 'node:timers/promises'
import { AbstractChat } from 'ai'
import type { ChatState, UIMessage } from 'ai'
import { z } from 'zod'
import { KeyRing, createFabric, signal, task } from '../src/index.ts'
import { startServer } from '../src/server.ts'
import { FabricChatTransport } from './chat-transport.ts'
import type { ChatServer, Reply } from './chat-transport.ts'

const answer = task('chat.answer', {
  input: z.object({ question: z.string() }),
  output: z.string(),
  frames: { token: z.string() },
  signals: { reloaded: z.null() },
})

/** Stands for a model. It stops in the middle until the page was reloaded, so that this program shows the same each time. */
const answerHandler = answer.handle(async ({ question }, ctx) => {
  const words = `You asked: ${question} Bees find the way by the sun.`.split(/(?<= )/)
  const middle = words.length / 2
  await ctx.step('begin', (s) => s.frames.pipe('token', words.slice(0, middle)))
  await ctx.waitFor('reloaded', signal('reloaded'))
  await ctx.step('end', (s) => s.frames.pipe('token', words.slice(middle)))
  return words.join('')
})

await using fabric = await createFabric('memory:', { keys: KeyRing.begin(Date.now()), indexedTags: ['chat'] })
await fabric.work([answerHandler])
await using server = await startServer(fabric, { port: 0 })

/** The two routes of your own server, which knows who the user is. */
const routes: ChatServer = {
  url: server.url,
  start: async (chatId, messages, trigger) => {
    const question = messages.findLast(({ role }) => role === 'user')
    const times = trigger === 'regenerate-message' ? `:${messages.length}` : ''
    const execution = await fabric.submit(
      answer,
      { question: textOf(question) },
      { id: `chat:${chatId}:${question?.id ?? ''}${times}`, tags: { chat: chatId } },
    )
    return await readable(execution.id)
  },
  latest: async (chatId) => {
    const { items } = await fabric.list({ tag: { name: 'chat', value: chatId }, limit: 1 })
    return items[0] && (await readable(items[0].id))
  },
}

async function readable(id: string): Promise<Reply> {
  const { token } = await fabric.readToken(id, { expires: '15m' })
  return { id, token }
}

/** A page. With React it is: useChat({ id, messages, resume: true, transport: new FabricChatTransport(routes) }). */
class Page extends AbstractChat<UIMessage> {
  constructor(id: string, messages: UIMessage[]) {
    super({ id, transport: new FabricChatTransport(routes), state: stateOf(messages) })
  }
}

const first = new Page('bees', [])
void first.sendMessage({ text: 'How do bees find the way?' })
await shows(first, /find the $/)
console.log(`before the reload: ${textOf(first.lastMessage)}…`)
await first.stop()

const second = new Page('bees', first.messages.slice(0, 1))
const resumed = second.resumeStream()
await shows(second, /find the $/)
await fabric.execution((await routes.latest('bees'))?.id ?? '').signal('reloaded', null)
await resumed
console.log(`after the reload: ${textOf(second.lastMessage)}`)
console.log(`messages: ${second.messages.map(({ role }) => role).join(', ')}`)

function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}

async function shows(page: Page, text: RegExp): Promise<void> {
  while (!text.test(textOf(page.lastMessage))) await pause(10)
}

/** What `useChat` does for React, without React. */
function stateOf(messages: UIMessage[]): ChatState<UIMessage> {
  return {
    status: 'ready',
    error: undefined,
    messages,
    pushMessage: (message) => void messages.push(message),
    popMessage: () => void messages.pop(),
    replaceMessage: (index, message) => void messages.splice(index, 1, message),
    snapshot: (value) => structuredClone(value),
  }
}
