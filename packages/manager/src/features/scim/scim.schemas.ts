// Requests and responses of the SCIM routes for users and of the discovery routes.
import { type TSchema, Type } from 'typebox'
import { createErrorResponses, notModifiedSchema } from '../../platform/http/http.schemas.ts'
import {
  any,
  consumes,
  createIfMatchSchema,
  createListSchema,
  createMetaSchema,
  createParamsSchema,
  createPatchBodySchema,
  optional,
  produces,
  selection,
  strings,
  tags,
} from './scim-common.schemas.ts'

const meta = createMetaSchema('User', 'user', 'ScimMeta')
const email = Type.Object(
  {
    value: optional('The address.'),
    type: optional('Kind of the address, such as `work`.'),
    display: optional('Name of the address.'),
    primary: Type.Optional(Type.Boolean({ description: 'Whether this is the preferred address.' })),
  },
  { $id: 'ScimEmail' },
)
const user = Type.Object(
  {
    schemas: strings('Contains `urn:ietf:params:scim:schemas:core:2.0:User`.'),
    id: Type.String({ format: 'uuid', description: 'Id of the user: the subject that the proxy sends.' }),
    externalId: optional('Id of the user at the identity provider.'),
    userName: optional('Unique name of the person; comparisons ignore case.'),
    displayName: optional('The name that other people see.'),
    name: Type.Optional(
      Type.Object(
        {
          formatted: optional('The whole name.'),
          familyName: optional('The family name.'),
          givenName: optional('The given name.'),
        },
        { $id: 'ScimName' },
      ),
    ),
    emails: Type.Optional(Type.Array(email, { maxItems: 20 })),
    active: Type.Optional(Type.Boolean({ description: 'Whether the identity provider permits the person.' })),
    meta: Type.Optional(meta),
  },
  { $id: 'ScimUser' },
)
/** A document of the discovery routes. */
const document = Type.Object({}, { additionalProperties: true, $id: 'ScimDocument' })

const params = createParamsSchema('user')
const headers = createIfMatchSchema('user')
const userBody = Type.Object(
  {
    externalId: any('Id of the user at the identity provider.'),
    userName: any('Unique name of the person. Required.'),
    displayName: any('The name that other people see.'),
    name: any('An object with `formatted`, `familyName` and `givenName`.'),
    emails: any('At most 20 objects with `value`, `type`, `display` and `primary`.'),
    active: any('Whether the person may use the Manager; defaults to true.'),
  },
  { additionalProperties: true, $id: 'ScimUserBody' },
)
export const createUserSchema = {
  operationId: 'createScimUser',
  summary: 'Creates a person',
  description: 'The id of the user is the UUID in the subject attribute.',
  tags,
  consumes,
  produces,
  querystring: Type.Object(selection),
  body: userBody,
  responseHeaders: { 201: ['ETag' as const, 'Location' as const] },
  response: { 201: user, ...createErrorResponses('scim', 401, 409, 413, 415) },
}

export const getUserSchema = {
  operationId: 'getScimUser',
  summary: 'Returns a person',
  tags,
  produces,
  params,
  querystring: Type.Object(selection),
  responseHeaders: { 200: ['ETag' as const], 304: ['ETag' as const] },
  response: { 200: user, 304: notModifiedSchema, ...createErrorResponses('scim', 401, 404) },
}

export const listUsersSchema = {
  operationId: 'listScimUsers',
  summary: 'Lists people, or searches for them with a filter',
  tags,
  produces,
  querystring: Type.Object({
    filter: optional('A filter such as `userName eq "ann"`.'),
    startIndex: optional('Position of the first user; defaults to 1.'),
    count: optional('Maximum number of users, at most 200; defaults to 100.'),
    ...selection,
  }),
  response: { 200: createListSchema(user), ...createErrorResponses('scim', 401) },
}

const changeSchema = {
  tags,
  consumes,
  produces,
  params,
  querystring: Type.Object(selection),
  headers,
  responseHeaders: { 200: ['ETag' as const] },
  response: { 200: user, ...createErrorResponses('scim', 401, 404, 409, 412, 413, 415) },
}

export const replaceUserSchema = {
  operationId: 'replaceScimUser',
  summary: 'Replaces the attributes of a person',
  description: 'An absent `active` or `externalId` stays unchanged.',
  ...changeSchema,
  body: userBody,
}

export const patchUserSchema = {
  operationId: 'patchScimUser',
  summary: 'Changes attributes of a person',
  description: 'A PATCH with at most 100 operations. Operations on unknown attributes change nothing.',
  ...changeSchema,
  body: createPatchBodySchema('ScimPatchBody'),
}

export const deleteUserSchema = {
  operationId: 'deleteScimUser',
  summary: 'Deletes a provisioned user and deactivates the person',
  tags,
  params,
  headers,
  response: {
    204: Type.Null({ description: 'The person is deactivated.' }),
    ...createErrorResponses('scim', 401, 404, 412),
  },
}

const createDocumentSchema = (operationId: string, summary: string, response: TSchema) => ({
  operationId,
  summary,
  tags,
  produces,
  response: { 200: response, ...createErrorResponses('scim', 401) },
})
const createFoundSchema = (operationId: string, summary: string) => ({
  operationId,
  summary,
  tags,
  produces,
  params: Type.Object({ id: Type.String({ description: 'Name or URN.' }) }),
  response: { 200: document, ...createErrorResponses('scim', 401, 404) },
})

export const configSchema = createDocumentSchema(
  'getScimServiceProviderConfig',
  'Returns the supported parts of SCIM',
  document,
)
export const resourceTypesSchema = createDocumentSchema(
  'listScimResourceTypes',
  'Lists the kinds of resources',
  createListSchema(document),
)
export const resourceTypeSchema = createFoundSchema('getScimResourceType', 'Returns a kind of resource')
export const schemasSchema = createDocumentSchema(
  'listScimSchemas',
  'Lists the schemas',
  createListSchema(document),
)
export const schemaSchema = createFoundSchema('getScimSchema', 'Returns a schema')
