/** The part of DBOS that the benchmarks use, so that they are type-checked without its package. */
declare module '@dbos-inc/dbos-sdk' {
  interface WorkflowHandle<Result> {
    getResult(): Promise<Result>
  }

  type Workflow<Args extends unknown[], Result> = (...args: Args) => Promise<Result>

  export const DBOS: {
    setConfig(config: { readonly name: string; readonly systemDatabaseUrl: string; readonly logLevel: string }): void
    launch(): Promise<void>
    shutdown(): Promise<void>
    registerWorkflow<Args extends unknown[], Result>(
      workflow: Workflow<Args, Result>,
      options: { readonly name: string },
    ): Workflow<Args, Result>
    startWorkflow<Args extends unknown[], Result>(
      workflow: Workflow<Args, Result>,
    ): (...args: Args) => Promise<WorkflowHandle<Result>>
    runStep<Result>(step: () => Promise<Result>, options: { readonly name: string }): Promise<Result>
  }
}
