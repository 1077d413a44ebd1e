/**
 * The same question to three models. The first answer wins, and the others are cancelled immediately: their signals abort,
 * so no tokens are wasted.
 *
 *   npx node examples/llm-race.ts [location of a store]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { anyOf, flow, task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

interface Prompt {
  readonly model: string
  readonly question: string
  /** The time that the model needs for one word. */
  readonly wordMs: number
}

const ask = task<Prompt, string>('llm.ask', { retry: { attempts: 3 }, timeout: { attempt: '30s' } })
const choose = task<undefined, string, { large?: string; small?: string; local?: string }>('llm.choose')

const race = flow('llm-race', (f, input: { question: string }) => {
  const { question } = input
  const large = f.node('large', ask, { input: { model: 'large', question, wordMs: 600 } })
  const small = f.node('small', ask, { input: { model: 'small', question, wordMs: 30 } })
  const local = f.node('local', ask, { input: { model: 'local', question, wordMs: 900 } })
  return f.node('choose', choose, { after: anyOf([large, small, local]) })
})

/** Simulates the streaming API of a provider, which accepts a signal. */
async function* wordsOf({ question, wordMs }: Prompt, signal: AbortSignal): AsyncGenerator<string> {
  for (const word of `${question} Because bees dance.`.split(' ')) {
    await sleep(wordMs, undefined, { signal })
    yield word
  }
}

const askHandler = ask.handle(async (prompt, ctx) => {
  const words: string[] = []
  try {
    for await (const word of wordsOf(prompt, ctx.signal)) words.push(word)
  } catch (error) {
    if (ctx.signal.aborted) console.log(`${prompt.model}: stopped after ${words.length} words`)
    throw error
  }
  console.log(`${prompt.model}: done`)
  return words.join(' ')
})

const chooseHandler = choose.handle((_input, { inputs }) => {
  const [model, answer] = Object.entries(inputs)[0] ?? ['no model', 'no answer']
  return `${model} says: ${answer}`
})

await using opened = await openFabric()
const { fabric } = opened
const worker = await fabric.work([askHandler, chooseHandler])

const handle = await fabric.submit(race, { question: 'How do bees find the way?' })
console.log(await handle.result())
// The losers have lost their leases; their handlers are still ending.
await worker.close()
for await (const { node, state, isSuperseded } of handle.members()) {
  console.log(`${node}: ${state}${isSuperseded ? ', not needed any more' : ''}`)
}
