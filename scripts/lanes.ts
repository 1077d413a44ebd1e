/** Runs jobs in lanes: the jobs of a lane one after the other, the lanes side by side. */

export type Job = () => Promise<void>

/** A lane without jobs of its own takes the next job of another lane, so that all lanes end at about the same time. */
export async function runLanes(lanes: readonly (readonly Job[])[]): Promise<void> {
  const queues = lanes.map((jobs) => [...jobs])

  async function work(own: Job[]): Promise<void> {
    const next = (): Job | undefined => own.shift() ?? queues.find((queue) => queue.length > 0)?.shift()
    for (let job = next(); job !== undefined; job = next()) await job()
  }

  await Promise.all(queues.map(work))
}
