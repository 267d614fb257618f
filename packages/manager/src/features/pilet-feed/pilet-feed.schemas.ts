// What browsers load of pilets.
import { Type } from 'typebox'
import { cachedHeaders, errorResponses, idInPath, notModified } from '../../platform/http/http.schemas.ts'

const applicationId = idInPath('The application')
const tags = ['proxy' as const]

const item = Type.Object({
  name: Type.String({ description: 'The name of the package; may have a scope.' }),
  version: Type.String(),
  link: Type.String({ description: 'The address of the bundle, to be fetched as it is written.' }),
  hash: Type.String({ description: 'SHA-256 of the bundle, in hex digits.' }),
  signature: Type.Optional(
    Type.String({ description: 'Ed25519 over the bytes of the bundle, in base64; absent when unsigned.' }),
  ),
  keyId: Type.Optional(Type.String({ description: 'The key that signed; absent when unsigned.' })),
  spec: Type.String({ description: 'The convention the bundle is written in, such as `v2`.' }),
  integrity: Type.String({ description: 'The same hash as browsers write it: `sha256-` and base64.' }),
  statement: Type.Optional(
    Type.String({
      description:
        'JSON with `svcPiletStatement` (1), `project`, `name`, `version` and `hash`, in this order and without blanks: what the bundle is. Absent from packages that were signed before there were statements.',
    }),
  ),
  statementSignature: Type.Optional(
    Type.String({ description: 'Ed25519 over the bytes of `statement` by the key `keyId`, in base64.' }),
  ),
})
const feed = Type.Object({ items: Type.Array(item) }, { $id: 'PiletFeed' })
const ofFeed = {
  tags,
  response: { 200: feed, 304: notModified, ...errorResponses('error', 404) },
  responseHeaders: cachedHeaders,
}

export const sharedFeedSchema = {
  operationId: 'getPiletFeed',
  summary: 'The pilets that the frontend of an application loads, without what a tenant adds',
  params: Type.Object({ applicationId }),
  ...ofFeed,
}

export const tenantFeedSchema = {
  operationId: 'getTenantPiletFeed',
  summary: 'The pilets that the frontend of an application loads in a tenant',
  params: Type.Object({ applicationId, tenantId: idInPath('The tenant') }),
  ...ofFeed,
}

export const bundleSchema = {
  operationId: 'getPiletBundle',
  summary: 'The bytes of a pilet',
  description: 'Every address without a bundle is answered with the same 404.',
  tags,
  params: Type.Object({
    applicationId,
    projectId: idInPath("The application's own project"),
    name: Type.String({ description: 'The name of the package, percent-encoded as one segment.' }),
    version: Type.String({ description: 'Its exact version, percent-encoded.' }),
  }),
  produces: [
    'text/javascript',
    'application/javascript',
    'application/x-javascript',
    'application/gzip',
    'application/x-gzip',
    'application/octet-stream',
  ],
  response: { 200: Type.Unknown(), 304: notModified, ...errorResponses('error', 404) },
  responseHeaders: cachedHeaders,
}

export const keysSchema = {
  operationId: 'getPiletKeys',
  summary: 'The public keys of pilet signatures, for developers',
  description: 'A frontend trusts the keys that its page was given, not these.',
  tags,
  params: Type.Object({ applicationId }),
  response: {
    200: Type.Record(Type.String(), Type.String(), {
      description: 'From the id of a key to its 32 bytes in base64.',
    }),
    304: notModified,
    ...errorResponses('error', 404),
  },
  responseHeaders: cachedHeaders,
}
