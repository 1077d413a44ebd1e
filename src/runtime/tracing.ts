/**
 * Spans, by the OpenTelemetry API that the program hands over. FlowFabric does not import it, so a program has one copy of it, in the
 * version that its SDK needs. The context of a span travels through the store as a `traceparent` of W3C Trace Context.
 */
import { packageVersion } from './package-version.ts'

/** The part of the module `@opentelemetry/api` that is used. */
export interface OpenTelemetryApi {
  readonly trace: {
    getTracer(name: string, version?: string): OpenTelemetryTracer
    getActiveSpan(): OpenTelemetrySpan | undefined
    setSpan(context: object, span: OpenTelemetrySpan): object
    setSpanContext(context: object, spanContext: OpenTelemetrySpanContext): object
    isSpanContextValid(spanContext: OpenTelemetrySpanContext): boolean
  }
  readonly context: { active(): object; with(context: object, work: () => unknown): unknown }
  readonly ROOT_CONTEXT: object
}

interface OpenTelemetryTracer {
  startSpan(name: string, options?: object, context?: object): OpenTelemetrySpan
}

interface OpenTelemetrySpan {
  spanContext(): OpenTelemetrySpanContext
  setAttribute(name: string, value: string): unknown
  setStatus(status: { code: number; message?: string }): unknown
  end(): void
}

interface OpenTelemetrySpanContext {
  readonly traceId: string
  readonly spanId: string
  readonly traceFlags: number
  readonly isRemote?: boolean
}

/** The numbers of the API's enumerations. */
const SPAN_KINDS = { internal: 0, server: 1, producer: 3, consumer: 4 } as const
const STATUS_ERROR = 2

export interface SpanSpec {
  readonly name: string
  readonly kind: keyof typeof SPAN_KINDS
  readonly attributes: Readonly<Record<string, string | number | undefined>>
  /** The `traceparent` that it belongs under. The active span unless given. */
  readonly parent?: string | undefined
}

/** A span that is open. */
export interface OpenSpan {
  set(attribute: string, value: string): void
  /** `kind` is a category or a code, never a text that may contain data. */
  fail(kind: string): void
}

export interface Tracing {
  /** Returns the `traceparent` of the active span. */
  current(): string | undefined
  /**
   * Runs work inside a span, which ends with it. An error that it throws fails the span and is rethrown. `describe` adds what the
   * span says of the result. The spec is a function, since most processes make no spans.
   */
  span<Result>(
    spec: () => SpanSpec,
    work: (span: OpenSpan) => Promise<Result>,
    describe?: (span: OpenSpan, result: Result) => void,
  ): Promise<Result>
}

const closedSpan: OpenSpan = { set: () => undefined, fail: () => undefined }

export const noTracing: Tracing = {
  current: () => undefined,
  span: (_spec, work) => work(closedSpan),
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

export function openTelemetryTracing(api: OpenTelemetryApi): Tracing {
  const tracer = api.trace.getTracer('flowfabric', packageVersion())

  const contextOf = (traceparent: string): object => {
    const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent) ?? []
    const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) || 0, isRemote: true }
    if (!api.trace.isSpanContextValid(spanContext)) return api.context.active()
    return api.trace.setSpanContext(api.ROOT_CONTEXT, spanContext)
  }

  return {
    current() {
      const spanContext = api.trace.getActiveSpan()?.spanContext()
      if (spanContext === undefined || !api.trace.isSpanContextValid(spanContext)) return undefined
      const flags = spanContext.traceFlags.toString(16).padStart(2, '0')
      return `00-${spanContext.traceId}-${spanContext.spanId}-${flags}`
    },

    span<Result>(
      spec: () => SpanSpec,
      work: (span: OpenSpan) => Promise<Result>,
      describe?: (span: OpenSpan, result: Result) => void,
    ) {
      const { name, kind, attributes, parent } = spec()
      const context = parent === undefined ? api.context.active() : contextOf(parent)
      const span = tracer.startSpan(name, { kind: SPAN_KINDS[kind], attributes }, context)
      const fail = (error: string) => {
        span.setAttribute('error.type', error)
        span.setStatus({ code: STATUS_ERROR })
      }
      const open: OpenSpan = { set: (attribute, value) => void span.setAttribute(attribute, value), fail }
      const run = async () => {
        try {
          const result = await work(open)
          describe?.(open, result)
          return result
        } catch (error) {
          fail(errorType(error))
          throw error
        } finally {
          span.end()
        }
      }
      return api.context.with(api.trace.setSpan(context, span), run) as Promise<Result>
    },
  }
}

/** The code of an error, or its name. */
function errorType(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
