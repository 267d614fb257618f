// Declarations of a route besides its handler. Requests are validated against them (validation.ts), and the API
// document is generated from them (tools/openapi.ts).
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { TSchema } from 'typebox'

/** The API server as features see it: a handler's request has the types of its schemas. */
export type ApiServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** The kind of callers that a route is for. */
type Audience = 'development' | 'machines' | 'operations' | 'people' | 'proxy'

/** Response headers that the API document lists, besides those that follow from the status. */
export type ResponseHeader = 'Deprecation' | 'ETag' | 'Sunset' | 'X-Audit-Chain'

declare module 'fastify' {
  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    tags?: Audience[]
    deprecated?: true
    /** Credential that an open route reads if it is sent. */
    optionalCredential?: 'machineToken' | 'proxySecret'
    /** The path in the API document, if the router's pattern is less specific. */
    path?: string
    /** A body of type multipart/form-data; the handler reads it. */
    form?: TSchema
    /** Media type of the body, if it is not JSON. */
    consumes?: 'application/x-www-form-urlencoded'
    /** Media types of successful responses, if they are not JSON. */
    produces?: string | string[]
    /** Successful responses in other media types, if the caller may choose. */
    alternatives?: Record<string, TSchema>
    /** Response headers, by status. */
    responseHeaders?: Record<number, ResponseHeader[]>
  }
}
