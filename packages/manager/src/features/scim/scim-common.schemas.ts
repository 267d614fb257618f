// Parts of requests and responses that users and groups share. Attribute names ignore case, so bodies are checked by the
// service.
import { type TSchema, Type } from 'typebox'

export const tags = ['identity' as const]
export const produces = 'application/scim+json'
export const consumes = ['application/scim+json' as const, 'application/json' as const]

export const strings = (description: string) => Type.Array(Type.String(), { description })
export const optional = (description: string) => Type.Optional(Type.String({ description }))
const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))
/** A value whose type the service checks, because clients send some values in several forms. */
export const any = (description: string) => Type.Optional(Type.Unknown({ description }))

/** Returns the schema of `meta`. `$id` is unique in the API document. */
export const createMetaSchema = <const Name extends string>(resourceType: Name, noun: string, $id: string) =>
  Type.Object(
    {
      resourceType: Type.Optional(Type.Literal(resourceType)),
      created: time('Time of the creation.'),
      lastModified: time('Time of the last change.'),
      location: optional(`Address of the ${noun}.`),
      version: optional(`Version of the ${noun}, which is also its ETag.`),
    },
    { $id },
  )

export const createListSchema = (resource: TSchema) =>
  Type.Object({
    schemas: strings('Contains `urn:ietf:params:scim:api:messages:2.0:ListResponse`.'),
    totalResults: Type.Integer({ description: 'Number of matching resources.' }),
    startIndex: Type.Integer({ description: 'Position of the first resource, which starts at 1.' }),
    itemsPerPage: Type.Integer({ description: 'Number of resources on this page.' }),
    Resources: Type.Array(resource),
  })

export const createParamsSchema = (noun: string) =>
  Type.Object({
    id: Type.String({ description: `The ${noun}, a UUID. A malformed id is treated like an unknown id.` }),
  })
export const selection = {
  attributes: optional('Return only these attributes, separated by commas.'),
  excludedAttributes: optional('Leave out these attributes; ignored if `attributes` is present.'),
}
export const createIfMatchSchema = (noun: string) =>
  Type.Object({ 'if-match': optional(`Versions of the ${noun}. Another version returns 412.`) })

/** Returns the schema of the body of a PATCH. `$id` is unique in the API document. */
export const createPatchBodySchema = ($id: string) =>
  Type.Object(
    { Operations: any('At most 100 objects with `op`, `path` and `value`.') },
    { additionalProperties: true, $id },
  )
