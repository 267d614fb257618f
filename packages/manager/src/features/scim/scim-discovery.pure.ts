// The discovery documents of SCIM (RFC 7643, sections 5 to 7): what the Manager supports, and the attributes that it stores.
import { userSchema } from './scim-attributes.pure.ts'
import { filterLimits } from './scim-filter.pure.ts'
import { pageLimits, renderList } from './scim-resource.pure.ts'

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

const createUserType = (baseUrl: string) => ({
  schemas: [resourceTypeSchema],
  id: 'User',
  name: 'User',
  endpoint: '/Users',
  description: 'A person who may sign in',
  schema: userSchema,
  meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/User` },
})

export const listResourceTypes = (baseUrl: string) => renderList([createUserType(baseUrl)], 1, 1)

/** Returns a resource type, or null if the Manager does not have it. */
export const findResourceType = (id: string, baseUrl: string) =>
  id === 'User' ? createUserType(baseUrl) : null

type Characteristics = {
  type?: 'boolean' | 'complex' | 'string'
  multiValued?: boolean
  required?: boolean
  caseExact?: boolean
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

const createUserSchema = (baseUrl: string) => ({
  schemas: [schemaSchema],
  id: userSchema,
  name: 'User',
  description: 'A person who may sign in',
  attributes: userAttributes,
  meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${userSchema}` },
})

export const listSchemas = (baseUrl: string) => renderList([createUserSchema(baseUrl)], 1, 1)

/** Returns a schema, or null if the Manager does not have it. The URN ignores case. */
export const findSchema = (id: string, baseUrl: string) =>
  id.toLowerCase() === userSchema.toLowerCase() ? createUserSchema(baseUrl) : null
