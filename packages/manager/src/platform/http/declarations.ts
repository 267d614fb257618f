// Types for declaring a route. validation.ts validates requests against the declared schemas, and
// tools/openapi.ts generates the API document from them.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { TSchema } from 'typebox'

/**
 * The API server type that features use: the request type of a handler follows from the schemas of its route.
 */
export type ApiServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** The kind of caller that a route is for. */
type Audience = 'development' | 'identity' | 'machines' | 'operations' | 'people' | 'proxy'

/** Response headers that the API document lists in addition to those that the status implies. */
export type ResponseHeader = 'Deprecation' | 'ETag' | 'Location' | 'Sunset' | 'X-Audit-Chain'

type BodyType = 'application/json' | 'application/scim+json' | 'application/x-www-form-urlencoded'

declare module 'fastify' {
  interface FastifySchema {
    operationId?: string
    summary?: string
    description?: string
    tags?: Audience[]
    deprecated?: true
    /** Credential that an open route accepts but does not require. */
    optionalCredential?: 'machineToken' | 'proxySecret'
    /** The path in the API document, if the router's pattern is less specific. */
    path?: string
    /** A body of type multipart/form-data; the handler reads it. */
    form?: TSchema
    /** Media types of the body, if it is not only JSON. */
    consumes?: BodyType | BodyType[]
    /** Media types of successful responses, if they are not JSON. */
    produces?: string | string[]
    /** Successful responses in other media types, if the caller may choose. */
    alternatives?: Record<string, TSchema>
    /** Response headers, by status. */
    responseHeaders?: Record<number, ResponseHeader[]>
  }
}
