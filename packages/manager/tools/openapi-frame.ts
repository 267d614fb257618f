// The parts of the API document that no route declares.
import { version } from '../src/version.ts'

export type Json = { [key: string]: Json | Json[] | string | number | boolean | null }

const description = `The REST routes of the Manager and the envelope of its GraphQL route. The GraphQL schema
is in \`docs/api/schema.graphql\`. Later versions can add fields to responses: ignore unknown fields.`

const createHeader = (description: string, example: string): Json => ({
  description,
  required: true,
  schema: { type: 'string' },
  example,
})
const createApiKey = (name: string, description: string): Json => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
})

const securitySchemes: Json = {
  proxySecret: createApiKey('X-Proxy-Auth', 'Secret that the trusted proxy shares with the Manager.'),
  subject: createApiKey('X-Token-Subject', 'Subject of the signed-in person (a UUID).'),
  email: createApiKey('X-Token-User-Email', 'E-mail of the person; optional.'),
  name: createApiKey('X-Token-User-Name', 'Name of the person; optional.'),
  forwardedUser: createApiKey('X-User-Id', 'User id of the signed-in person (a UUID).'),
  forwardedTenant: createApiKey('X-Tenant-Id', 'Id of the tenant that the person selected (a UUID).'),
  machineToken: { type: 'http', scheme: 'bearer', description: 'Token of a machine user.' },
  scimToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'scim_<49 characters>',
    description: 'Token that an administrator created for an identity provider.',
  },
  personalAccessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'pat_<8 characters>_<32 characters>',
    description: 'Personal access token; it takes precedence over the identity headers.',
  },
}

/** Returns the document without its paths and schemas. */
export function createFrame(): Json & { components: Json } {
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
      { name: 'proxy', description: 'Routes for the trusted reverse proxy.' },
      { name: 'people', description: 'Routes for people, through the proxy.' },
      {
        name: 'identity',
        description: 'Routes for identity providers, with a SCIM token, through the proxy.',
      },
      { name: 'machines', description: 'Routes for backends, with a machine token.' },
      { name: 'operations', description: 'Routes for the orchestrator and for monitoring.' },
      { name: 'development', description: 'Routes that are served in development only.' },
    ],
    components: {
      headers: {
        'X-Request-Id': createHeader(
          'Request id: the id that the caller sent if it is well-formed, otherwise a new id.',
          '5b0c7f0e-2f6c-4a0e-9a3c-6b1f0d0d7c11',
        ),
        'Retry-After': createHeader('Whole seconds to wait before a retry.', '1'),
        ETag: createHeader(
          'Identifies this version of the response; send it back as `If-None-Match`.',
          '"ZSwS8EqEhSnUZHXNQTWtvSwTqZG"',
        ),
        Location: createHeader(
          'Address of the created object.',
          'https://manager.example.com/scim/v2/Users/0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de',
        ),
        Deprecation: createHeader(
          'Time at which the route was or will be deprecated (RFC 9745).',
          '@1794700800',
        ),
        'X-Audit-Chain': createHeader('`status` of the chain object: `ok`, `broken` or `empty`.', 'ok'),
        Sunset: createHeader(
          'Time at which the route will be removed (RFC 8594).',
          'Sat, 15 May 2027 00:00:00 GMT',
        ),
      },
      securitySchemes,
    },
  }
}

export const headerParts = {
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: '`ETag` values of cached copies. The route returns 304 if one of them is current.',
    schema: { type: 'string' },
  },
} satisfies Record<string, Json>

export const healthServers: Json[] = [
  {
    url: 'http://{host}:{port}',
    description: 'The health port. No proxy exposes it.',
    variables: { host: { default: '127.0.0.1' }, port: { default: '8081' } },
  },
]

/** Meaning of each status for schemas without a description. */
export const statusMeanings: Record<string, string> = {
  200: 'The request succeeded.',
  201: 'The object was created.',
  202: 'The request was accepted.',
  204: 'The request succeeded; the response has no body.',
  400: 'The request, or a value in it, is malformed.',
  401: 'The request did not come through the proxy, or its credential is invalid.',
  403: 'The caller is not allowed to do this.',
  404: 'The object does not exist, or the caller may not see it.',
  409: 'The request conflicts with the current state.',
  412: 'The object has another version than the one in the request.',
  413: 'The body is larger than this route accepts.',
  415: 'The route does not accept this content type. Most routes require JSON.',
  422: 'The key was already used with another body.',
  429: 'Too many failed attempts, or too many requests.',
  500: 'Internal error. Search the log for the request id.',
  502: 'The endpoint or orchestrator is unreachable, failed, or sent an incomplete response.',
  503: 'The service is overloaded, or a dependency does not respond. Retry later.',
}
