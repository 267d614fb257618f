// Requests and responses of the SCIM routes for groups.
import { Type } from 'typebox'
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

const member = Type.Object(
  {
    value: Type.Optional(Type.String({ format: 'uuid', description: 'Id of the SCIM user.' })),
    type: Type.Optional(Type.Literal('User')),
  },
  { $id: 'ScimMember' },
)
const group = Type.Object(
  {
    schemas: strings('Contains `urn:ietf:params:scim:schemas:core:2.0:Group`.'),
    id: Type.String({ format: 'uuid', description: 'Id of the group, which the Manager creates.' }),
    externalId: optional('Id of the group at the identity provider.'),
    displayName: optional('Unique name of the group; comparisons ignore case.'),
    members: Type.Optional(Type.Array(member, { maxItems: 50_000 })),
    meta: Type.Optional(createMetaSchema('Group', 'group', 'ScimGroupMeta')),
  },
  { $id: 'ScimGroup' },
)

const params = createParamsSchema('group')
const headers = createIfMatchSchema('group')
const groupBody = Type.Object(
  {
    externalId: any('Id of the group at the identity provider.'),
    displayName: any('Unique name of the group. Required.'),
    members: any('At most 50,000 objects with the id of a SCIM user in `value`. Nested groups are rejected.'),
  },
  { additionalProperties: true, $id: 'ScimGroupBody' },
)

export const createGroupSchema = {
  operationId: 'createScimGroup',
  summary: 'Creates a group',
  description:
    'The members must be SCIM users. A new group gives no roles; administrators create group rules.',
  tags,
  consumes,
  produces,
  querystring: Type.Object(selection),
  body: groupBody,
  responseHeaders: { 201: ['ETag' as const, 'Location' as const] },
  response: { 201: group, ...createErrorResponses('scim', 401, 409, 413, 415) },
}

export const getGroupSchema = {
  operationId: 'getScimGroup',
  summary: 'Returns a group with all of its members',
  description: 'With `excludedAttributes=members`, the members are not read.',
  tags,
  produces,
  params,
  querystring: Type.Object(selection),
  responseHeaders: { 200: ['ETag' as const], 304: ['ETag' as const] },
  response: { 200: group, 304: notModifiedSchema, ...createErrorResponses('scim', 401, 404) },
}

export const listGroupsSchema = {
  operationId: 'listScimGroups',
  summary: 'Lists groups, or searches for them with a filter',
  description: 'A page contains at most 50,000 members, so it can have fewer groups than `count`.',
  tags,
  produces,
  querystring: Type.Object({
    filter: optional('A filter such as `displayName eq "Engineering"`.'),
    startIndex: optional('Position of the first group; defaults to 1.'),
    count: optional('Maximum number of groups, at most 200; defaults to 100.'),
    ...selection,
  }),
  response: { 200: createListSchema(group), ...createErrorResponses('scim', 401) },
}

const changeSchema = {
  tags,
  consumes,
  produces,
  params,
  querystring: Type.Object(selection),
  headers,
  responseHeaders: { 200: ['ETag' as const] },
  response: { 200: group, ...createErrorResponses('scim', 401, 404, 409, 412, 413, 415) },
}

export const replaceGroupSchema = {
  operationId: 'replaceScimGroup',
  summary: 'Replaces the attributes and the members of a group',
  description: 'Without `members`, the group becomes empty. An absent `externalId` stays unchanged.',
  ...changeSchema,
  body: groupBody,
}

export const patchGroupSchema = {
  operationId: 'patchScimGroup',
  summary: 'Changes attributes and members of a group',
  description:
    'A PATCH with at most 100 operations and 50,000 members. Operations on unknown attributes change nothing. The response contains the members only if `attributes` names them.',
  ...changeSchema,
  body: createPatchBodySchema('ScimGroupPatchBody'),
}

export const deleteGroupSchema = {
  operationId: 'deleteScimGroup',
  summary: 'Deletes a group, its rules, and the roles that they gave',
  tags,
  params,
  headers,
  response: {
    204: Type.Null({ description: 'The group is deleted.' }),
    ...createErrorResponses('scim', 401, 404, 412),
  },
}
