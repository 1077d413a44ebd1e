/** The clients, workers and engines of a world: real code, each in a process that can be killed and started again. */
import { KeyRing } from '../../src/client/index.ts'
import type { Handler } from '../../src/client/index.ts'
import { sleep } from '../../src/runtime/index.ts'
import { EngineError } from '../../src/kernel/engine-error.ts'
import { Fabric } from '../../src/fabric/index.ts'
import type { Worker, WorkerOptions } from '../../src/worker/index.ts'
import type { Chance } from './chance.ts'
import type { Clockwork } from './clockwork.ts'
import type { WorldConfig } from './config.ts'
import { programAt } from './deploy.ts'
import type { Program } from './deploy.ts'
import { REFUSAL_LIMIT } from './deploy-kinds.ts'
import { conditionalFlows } from './flow-kinds.ts'
import { NotedCalls } from './journal-notes.ts'
import type { Kind } from './kind.ts'
import { allKinds } from './kinds.ts'
import type { Network } from './network.ts'
import { perform } from './plan.ts'
import type { Action } from './plan.ts'
import { Process } from './process.ts'
import { ROUTED, capabilitiesOf, routingProblems } from './routing.ts'
import type { Body, Follower, Witness } from './witness.ts'

/** A process's own clock is wrong by up to this much to both sides. */
const SKEW_MAX_MS = 3_000
/** How often an engine looks at everything. Purges and proofs come more often than usual, so that worlds see them. */
const ENGINE_INTERVALS = {
  due: 5_000,
  retention_trimmer: 9_000,
  index_reconciler: 15_000,
  dependency_reconciler: 12_000,
  edge_cancel_reconciler: 14_000,
  cancel_reconciler: 16_000,
  flow_projector: 18_000,
  worker_sweep: 20_000,
  lane_copier: 20_000,
  excess_trimmer: 20_000,
  quota_reconciler: 18_000,
  budget_reconciler: 19_000,
  unblock: 19_000,
}
/** Deliveries of webhooks would leave the world. */
const ENGINE = { intervals: ENGINE_INTERVALS, webhooks: false }

const FOLLOW_AGAIN_MS = 300

/** All processes sign with the same key. */
const KEYS = KeyRing.parse({ keys: [{ id: 'key', secret: Buffer.alloc(32, 1).toString('base64url'), createdAt: 0 }] })

export interface Actor {
  readonly name: string
  readonly role: 'client' | 'worker' | 'engine'
  readonly number: number
  lives: number
  life: Life | undefined
}

interface Life {
  readonly process: Process
  readonly program: Program
  readonly fabric: Fabric
  worker: Worker | undefined
  isClosing: boolean
  isClosed: boolean
}

export interface FleetSetting {
  readonly config: WorldConfig
  readonly clockwork: Clockwork
  readonly network: Network
  readonly witness: Witness
  readonly plan: readonly Action[]
  readonly chance: Chance
  /** Settings that a planted fault changes. */
  readonly workerOptions?: Partial<WorkerOptions> | undefined
}

export class Fleet {
  readonly actors: Actor[]
  readonly #setting: FleetSetting

  constructor(setting: FleetSetting) {
    this.#setting = setting
    const { clients, workers, engines } = setting.config
    this.actors = [...actors('client', clients), ...actors('worker', workers), ...actors('engine', engines)]
  }

  get processes(): Process[] {
    return this.actors.flatMap(({ life }) => (life === undefined ? [] : [life.process]))
  }

  start(actor: Actor): Fabric {
    const { network, witness, config, clockwork } = this.#setting
    const program = programAt(config, this.actors.indexOf(actor), clockwork.elapsedMs)
    actor.lives += 1
    const process = this.#makeProcess(`${actor.name}.${actor.lives}`)
    const fabric = new Fabric(network.open(process), process, { log: witness.logFor(process.name), keys: KEYS })
    const life: Life = { process, program, fabric, worker: undefined, isClosing: false, isClosed: false }
    actor.life = life
    switch (actor.role) {
      case 'client':
        this.#startClient(actor, life)
        return fabric
      case 'worker':
        witness.watch(`${process.name} starting`, this.#startWorker(actor, life, false))
        return fabric
      case 'engine':
        fabric.engine(ENGINE)
        return fabric
    }
  }

  /** Ends an actor as a killed process ends. */
  kill(actor: Actor): void {
    const { life } = actor
    if (life === undefined) return
    life.process.kill()
    this.#setting.network.cut(life.process)
    actor.life = undefined
  }

  /** Ends it as a process ends that is asked to. */
  close(actor: Actor): void {
    const { life } = actor
    if (life === undefined || life.isClosing) return
    life.isClosing = true
    const closing = life.fabric.close().then(() => {
      life.isClosed = true
    })
    this.#setting.witness.watch(`${life.process.name} closing`, closing)
  }

  /** Whether an actor runs handlers. */
  works({ role }: Actor): boolean {
    return role === 'worker' || (role === 'client' && this.#setting.config.areClientsWorkers)
  }

  /** Whether no worker has anything in hand. */
  get isIdle(): boolean {
    return this.actors.every(({ life }) => {
      if (life?.worker === undefined) return true
      const { running, waiting, settling } = life.worker.stats()
      return running + waiting + settling === 0
    })
  }

  /** One more client, which only looks. */
  observe(): Fabric {
    const observer: Actor = { name: 'observer', role: 'client', number: -1, lives: 0, life: undefined }
    this.actors.push(observer)
    return this.start(observer)
  }

  #makeProcess(name: string): Process {
    const { clockwork, chance } = this.#setting
    const own = chance.fork(name)
    return new Process(name, clockwork, own, own.between(-SKEW_MAX_MS, SKEW_MAX_MS))
  }

  /** The first client and the observer also follow the events from the beginning of the log. */
  #startClient(actor: Actor, life: Life): void {
    const { number } = actor
    const { plan, witness, clockwork, config } = this.#setting
    const { process, fabric } = life
    if (config.areClientsWorkers && number >= 0) {
      witness.watch(`${process.name} starting`, this.#startWorker(actor, life, true))
    }
    if (number <= 0) witness.watch(`${process.name} following`, follow(fabric, process, witness))
    for (const action of plan) {
      if (action.client !== number || action.isDone) continue
      const waitMs = Math.max(0, action.atMs - clockwork.elapsedMs)
      process.after(waitMs, () => witness.watch(`${process.name} acting`, perform(action, fabric, process, witness)))
    }
  }

  async #startWorker({ name, number }: Actor, life: Life, hasEngine: boolean): Promise<void> {
    const { config, workerOptions } = this.#setting
    const served = allKinds.filter(({ isUnserved }) => !isUnserved)
    const options: WorkerOptions = {
      workerId: name,
      concurrency: config.concurrency,
      prefetch: config.prefetch,
      prefetchHold: 400,
      leaseTtl: config.leaseTtlMs,
      sweep: 2_000,
      drainTimeout: 1_500,
      killTimeout: 700,
      build: life.program,
      refusals: { limit: REFUSAL_LIMIT },
      capabilities: config.works.some(({ kind }) => kind === ROUTED) ? capabilitiesOf(number) : [],
      ...workerOptions,
    }
    const handlers = served.map((kind) => this.#handlerOf(kind, life, number))
    life.worker = await life.fabric.work(handlers, {
      flows: conditionalFlows,
      ...options,
      engine: hasEngine ? ENGINE : false,
    })
  }

  #handlerOf(kind: Kind, life: Life, number: number): Handler {
    const { witness, network } = this.#setting
    const { process, program } = life
    const task = program === 'old' ? kind.earlier : kind.task
    return task.handle(kind.name === 'long' ? { concurrency: 1 } : {}, async (work, context) => {
      const body: Body = {
        number: witness.bodies.length + 1,
        executionId: context.executionId,
        task: kind.name,
        version: context.version,
        program,
        input: work.name,
        attempt: context.attempt,
        inputs: { ...context.inputs },
        idempotencyKey: context.idempotencyKey,
        process: process.name,
        workerInstanceId: life.worker?.instanceId ?? '',
        begunAt: process.monotonic(),
        progress: [],
      }
      witness.bodies.push(body)
      witness.complaints.push(...routingProblems(network, body, number))
      const report = async (percent: number) => {
        await context.progress(percent)
        body.progress.push(percent)
      }
      const isRecorded = (step: string) => isRecordedFor(network, body, step)
      const calls = new NotedCalls(witness.journals, context, isRecorded)
      if ((await kind.run({ runtime: process, context, work, report, calls })) === 'fallback') return 'fallback'
      body.answer = `${work.name} by body ${body.number}`
      return body.answer
    })
  }
}

async function follow(fabric: Fabric, process: Process, witness: Witness): Promise<void> {
  const isOver = () => !process.isAlive || fabric.isClosed
  const follower: Follower = { process: process.name, events: [], gapCount: 0, isOver }
  witness.followers.push(follower)
  while (!fabric.isClosed) {
    try {
      for await (const item of fabric.subscribe({ fromStart: true })) {
        if (item.kind === 'event') follower.events.push(item.event)
        else follower.gapCount += 1
      }
    } catch (error) {
      // A subscription that the store did not let begin has shown nothing yet, and is begun again.
      if (!(error instanceof EngineError) || !error.isRetryable || follower.events.length > 0) {
        witness.complaints.push(`${process.name} following the events met ${String(error)}`)
        return
      }
      await sleep(process, FOLLOW_AGAIN_MS)
    }
  }
}

/** Whether a body has the lease of its execution, and the store has a result of one of its steps. */
function isRecordedFor({ dumps }: Network, { executionId, workerInstanceId, attempt }: Body, step: string): boolean {
  const records = dumps.flatMap((dump) => dump.records)
  const execution = records.find((record) => record.type === 'execution' && record.id === executionId)
  if (execution?.type !== 'execution' || execution.state.phase !== 'active') return false
  if (execution.attempt?.number !== attempt || execution.state.lease.workerInstanceId !== workerInstanceId) return false
  return records.some(
    (record) =>
      record.type === 'step' &&
      record.executionId === executionId &&
      record.name === step &&
      record.state.phase === 'completed',
  )
}

function actors(role: Actor['role'], count: number): Actor[] {
  return Array.from({ length: count }, (_, number) => ({
    name: `${role}${number + 1}`,
    role,
    number,
    lives: 0,
    life: undefined,
  }))
}
