// The discovery documents of SCIM (RFC 7643, sections 5 to 7): what the Manager supports, and the attributes that it stores.
import { groupSchema, userSchema } from './scim-attributes.pure.ts'
import { filterLimits } from './scim-filter.pure.ts'
import { type ResourceType, pageLimits, renderList } from './scim-resource.pure.ts'

const schemaSchema = 'urn:ietf:params:scim:schemas:core:2.0:Schema'
const resourceTypeSchema = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType'

export const createServiceProviderConfig = (baseUrl: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: pageLimits.maxCount },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'SCIM token',
      description: `A token that an administrator of the Manager created for this client. Filters have at most ${filterLimits.length} characters.`,
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
})

const createTypes = (baseUrl: string) => [
  createType(baseUrl, { id: 'User', description: 'A person who may sign in', schema: userSchema }),
  createType(baseUrl, { id: 'Group', description: 'A group of people', schema: groupSchema }),
]

const createType = (baseUrl: string, type: { id: ResourceType; description: string; schema: string }) => ({
  schemas: [resourceTypeSchema],
  id: type.id,
  name: type.id,
  endpoint: `/${type.id}s`,
  description: type.description,
  schema: type.schema,
  meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${type.id}` },
})

export const listResourceTypes = (baseUrl: string) => {
  const types = createTypes(baseUrl)
  return renderList(types, 1, types.length)
}

/** Returns a resource type, or null if the Manager does not have it. */
export const findResourceType = (id: string, baseUrl: string) =>
  createTypes(baseUrl).find((type) => type.id === id) ?? null

type Characteristics = {
  type?: 'boolean' | 'complex' | 'string'
  multiValued?: boolean
  required?: boolean
  caseExact?: boolean
  mutability?: 'immutable'
  uniqueness?: 'none' | 'server'
  subAttributes?: object[]
}

const createAttribute = (name: string, description: string, characteristics: Characteristics = {}) => ({
  name,
  type: 'string',
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...characteristics,
})

const userAttributes = [
  createAttribute('userName', 'Unique name of the person, for example for the sign-in', {
    required: true,
    uniqueness: 'server',
  }),
  createAttribute('name', 'Parts of the name', {
    type: 'complex',
    subAttributes: [
      createAttribute('formatted', 'The whole name'),
      createAttribute('familyName', 'The family name'),
      createAttribute('givenName', 'The given name'),
    ],
  }),
  createAttribute('displayName', 'The name that other people see'),
  createAttribute('active', 'Whether the person may use the Manager', { type: 'boolean' }),
  createAttribute('emails', 'E-mail addresses', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      createAttribute('value', 'The address'),
      createAttribute('type', 'Kind of the address, such as work'),
      createAttribute('display', 'Name of the address'),
      createAttribute('primary', 'Whether this is the preferred address', { type: 'boolean' }),
    ],
  }),
]

const groupAttributes = [
  createAttribute('displayName', 'Unique name of the group', { required: true, uniqueness: 'server' }),
  createAttribute('members', 'The people in the group', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      createAttribute('value', 'The id of the SCIM user', {
        required: true,
        caseExact: true,
        mutability: 'immutable',
      }),
      createAttribute('type', 'The kind of the member, always User', { mutability: 'immutable' }),
    ],
  }),
]

const createSchemas = (baseUrl: string) => [
  createSchema(baseUrl, {
    id: userSchema,
    name: 'User',
    description: 'A person who may sign in',
    attributes: userAttributes,
  }),
  createSchema(baseUrl, {
    id: groupSchema,
    name: 'Group',
    description: 'A group of people',
    attributes: groupAttributes,
  }),
]

const createSchema = (
  baseUrl: string,
  schema: { id: string; name: ResourceType; description: string; attributes: object[] },
) => ({
  schemas: [schemaSchema],
  ...schema,
  meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${schema.id}` },
})

export const listSchemas = (baseUrl: string) => {
  const schemas = createSchemas(baseUrl)
  return renderList(schemas, 1, schemas.length)
}

/** Returns a schema, or null if the Manager does not have it. The URN ignores case. */
export const findSchema = (id: string, baseUrl: string) =>
  createSchemas(baseUrl).find((schema) => schema.id.toLowerCase() === id.toLowerCase()) ?? null
