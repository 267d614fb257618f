// The parts of the API document that no route declares.
import { version } from '../src/version.ts'

export type Json = { [key: string]: Json | Json[] | string | number | boolean | null }

const description = `The REST routes of the Manager and the envelope of its GraphQL route. What GraphQL itself offers is
in \`docs/api/schema.graphql\`. Responses may gain fields: ignore those you do not know.`

const header = (description: string, example: string): Json => ({
  description,
  required: true,
  schema: { type: 'string' },
  example,
})
const apiKey = (name: string, description: string): Json => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
})

/** Everything but the paths and the schemas. */
export function frame(): Json & { components: Json } {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Manager',
      version,
      description,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The API port.' }],
    tags: [
      { name: 'proxy', description: 'For the trusted reverse proxy.' },
      { name: 'people', description: 'For people, through the proxy.' },
      { name: 'machines', description: 'For backends, with a machine token.' },
      { name: 'operations', description: 'For the orchestrator and for monitoring.' },
      { name: 'development', description: 'Served in development only.' },
    ],
    components: {
      headers: {
        'X-Request-Id': header(
          'The id of the request: the one it came with, if well-formed, else a new one.',
          '5b0c7f0e-2f6c-4a0e-9a3c-6b1f0d0d7c11',
        ),
        'Retry-After': header('Whole seconds after which to try again.', '1'),
        ETag: header('Names these bytes; send it as `If-None-Match`.', '"ZSwS8EqEhSnUZHXNQTWtvSwTqZG"'),
        Deprecation: header('Since when the address is deprecated (RFC 9745).', '@1794700800'),
        'X-Audit-Chain': header('`status` of the chain object: `ok`, `broken` or `empty`.', 'ok'),
        Sunset: header('When the address is to go (RFC 8594).', 'Sat, 15 May 2027 00:00:00 GMT'),
      },
      securitySchemes: {
        proxySecret: apiKey('X-Proxy-Auth', 'The secret that the trusted proxy shares with the Manager.'),
        subject: apiKey('X-Token-Subject', 'The person the proxy has signed in: the subject, a UUID.'),
        email: apiKey('X-Token-User-Email', 'Their e-mail; optional.'),
        name: apiKey('X-Token-User-Name', 'Their name; optional.'),
        forwardedUser: apiKey('X-User-Id', 'The person the proxy has signed in: a UUID.'),
        forwardedTenant: apiKey('X-Tenant-Id', 'The tenant they have chosen: a UUID.'),
        machineToken: { type: 'http', scheme: 'bearer', description: 'The token of a machine user.' },
        personalAccessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'pat_<8 characters>_<32 characters>',
          description: 'A personal access token; it decides over the identity headers.',
        },
      },
    },
  }
}

export const headerParts = {
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'Validators of the copies you hold; 304 when one of them is current.',
    schema: { type: 'string' },
  },
} satisfies Record<string, Json>

export const healthServers: Json[] = [
  {
    url: 'http://{host}:{port}',
    description: 'The health port, which no proxy exposes.',
    variables: { host: { default: '127.0.0.1' }, port: { default: '8081' } },
  },
]

/** What a status means, where its schema does not say. */
export const reasons: Record<string, string> = {
  400: 'The request is malformed, or a value in it is.',
  401: 'The request did not come through the proxy, or its credential does not hold.',
  403: 'The caller may not do this.',
  404: 'There is no such thing, or it is out of reach.',
  413: 'The body is larger than this route accepts.',
  415: 'The body is not sent as JSON.',
  422: 'The key was used for another body.',
  429: 'Too many failures, or more calls than the limit.',
  500: 'Something failed here; the request id names it in the log.',
  502: 'The endpoint could not be reached, or its response ended early.',
  503: 'Not now: the service is overloaded, or something it needs does not answer.',
}
