// What a route declares of itself beside its handler. Requests are checked by it (validation.ts), and the API document
// is generated from it (tools/openapi.ts).
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { TSchema } from 'typebox'

/** The API server as features meet it: a handler's request has the types that its schemas say. */
export type ApiServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** Whom a route is for. */
type Audience = 'development' | 'machines' | 'operations' | 'people' | 'proxy'

/** Headers of responses that the document knows, beside those that follow from the status. */
export type ResponseHeader = 'Deprecation' | 'ETag' | 'Sunset' | 'X-Audit-Chain'

declare module 'fastify' {
  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    tags?: Audience[]
    deprecated?: true
    /** What an open route reads when it is sent. */
    optionalCredential?: 'machineToken' | 'proxySecret'
    /** The path as the document writes it, where the router's pattern says less. */
    path?: string
    /** A body of type multipart/form-data; the handler reads it. */
    form?: TSchema
    /** The media type of the body, where it is not JSON. */
    consumes?: 'application/x-www-form-urlencoded'
    /** The media types of successful responses, where they are not JSON. */
    produces?: string | string[]
    /** Successful responses in other media types, where a caller may choose. */
    alternatives?: Record<string, TSchema>
    /** Headers of a response, by status. */
    responseHeaders?: Record<number, ResponseHeader[]>
  }
}
