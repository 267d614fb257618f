import { Type } from 'typebox'
import {
  cachedHeaders,
  createErrorResponses,
  createPathIdSchema,
  notModifiedSchema,
} from '../../platform/http/http.schemas.ts'

const applicationId = createPathIdSchema('The application')
const tags = ['proxy' as const]

const item = Type.Object({
  name: Type.String({ description: 'Name of the package; can include a scope.' }),
  version: Type.String(),
  link: Type.String({ description: 'Address of the bundle. Fetch it unchanged.' }),
  hash: Type.String({ description: 'SHA-256 of the bundle, in hex.' }),
  signature: Type.Optional(
    Type.String({ description: 'Ed25519 signature of the bundle, in base64; absent if unsigned.' }),
  ),
  keyId: Type.Optional(Type.String({ description: 'Id of the signing key; absent if unsigned.' })),
  spec: Type.String({ description: 'Pilet format of the bundle, such as `v2`.' }),
  integrity: Type.String({ description: 'The same hash as Subresource Integrity: `sha256-` and base64.' }),
  statement: Type.Optional(
    Type.String({
      description:
        'JSON that identifies the bundle: `svcPiletStatement` (1), `project`, `name`, `version` and `hash`, in this order and without spaces. Absent if the package was signed before statements existed.',
    }),
  ),
  statementSignature: Type.Optional(
    Type.String({ description: 'Ed25519 signature of `statement` with the key `keyId`, in base64.' }),
  ),
})
const feed = Type.Object({ items: Type.Array(item) }, { $id: 'PiletFeed' })
const commonFeedFields = {
  tags,
  response: { 200: feed, 304: notModifiedSchema, ...createErrorResponses('error', 404) },
  responseHeaders: cachedHeaders,
}

export const sharedFeedSchema = {
  operationId: 'getPiletFeed',
  summary: 'Returns the pilets that the frontend of an application loads without tenant settings',
  params: Type.Object({ applicationId }),
  ...commonFeedFields,
}

export const tenantFeedSchema = {
  operationId: 'getTenantPiletFeed',
  summary: 'Returns the pilets that the frontend of an application loads in a tenant',
  params: Type.Object({ applicationId, tenantId: createPathIdSchema('The tenant') }),
  ...commonFeedFields,
}

export const bundleSchema = {
  operationId: 'getPiletBundle',
  summary: 'Returns the bundle of a pilet',
  description: 'Every request for an unavailable bundle returns the same 404 response.',
  tags,
  params: Type.Object({
    applicationId,
    projectId: createPathIdSchema("The application's own project"),
    name: Type.String({ description: 'Name of the package, percent-encoded as one path segment.' }),
    version: Type.String({ description: 'Exact version of the package, percent-encoded.' }),
  }),
  produces: [
    'text/javascript',
    'application/javascript',
    'application/x-javascript',
    'application/gzip',
    'application/x-gzip',
    'application/octet-stream',
  ],
  response: { 200: Type.Unknown(), 304: notModifiedSchema, ...createErrorResponses('error', 404) },
  responseHeaders: cachedHeaders,
}

export const keysSchema = {
  operationId: 'getPiletKeys',
  summary: 'Returns the public keys of pilet signatures, for developers',
  description: 'A frontend must trust only the keys in its page, not the keys that this route returns.',
  tags,
  params: Type.Object({ applicationId }),
  response: {
    200: Type.Record(Type.String(), Type.String(), {
      description: 'Maps each key id to the 32 bytes of the key, in base64.',
    }),
    304: notModifiedSchema,
    ...createErrorResponses('error', 404),
  },
  responseHeaders: cachedHeaders,
}
