// What the routes of pilets take and return.
import { Type } from 'typebox'
import {
  cachedHeaders,
  errorResponses,
  idInPath,
  notModified,
  uuid,
} from '../../platform/http/http.schemas.ts'

const tags = ['people' as const]
const projectId = idInPath('The project')
const name = Type.String({
  description: 'The name of the pilet; of a scoped one, `@` and `/` are percent-encoded.',
})
const version = Type.String({ description: 'The version, strict SemVer.' })
const message = Type.String({ description: 'What was done.' })
const hash = Type.String({ description: 'The SHA-256 of the bytes, in lower-case hex.' })
const size = Type.Integer({ description: 'In bytes.' })
const keyParams = Type.Object({ projectId, name, version })

/** A query parameter that is true or false. */
const flag = (description: string) =>
  Type.Optional(Type.Enum(['true', 'false'], { title: 'true or false', description }))

const listed = Type.Object(
  {
    id: uuid('The package.'),
    name: Type.String(),
    version: Type.String(),
    description: Type.String(),
    size,
    hash,
    enabled: Type.Boolean({ description: 'What is disabled is in no feed.' }),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'PiletPackage' },
)

export const listSchema = {
  operationId: 'listPilets',
  summary: 'The pilets of a project',
  description:
    'By name, then from the lowest version to the highest, as a stream: a connection that ends before the JSON does was cut by a failure.',
  tags,
  params: Type.Object({ projectId }),
  querystring: Type.Object({ enabled: flag('Only those that are enabled, or only the others.') }),
  response: {
    200: Type.Object({
      packages: Type.Array(listed),
      count: Type.Integer({ description: 'How many are listed.' }),
    }),
    ...errorResponses('error'),
  },
}

export const uploadSchema = {
  operationId: 'uploadPilet',
  summary: 'Uploads a version of a pilet',
  description: 'A version that exists does not change: uploading it again is answered 409.',
  tags,
  params: keyParams,
  querystring: Type.Object({
    description: Type.Optional(Type.String({ description: 'For people, at most 1,000 characters.' })),
    enabled: flag(
      '`false` keeps the version out of all feeds until it is enabled. A version of a caller who may not enable versions is always stored disabled.',
    ),
  }),
  form: Type.Object({
    file: Type.String({ format: 'binary', description: 'The bundle, such as a .js or .tgz file.' }),
  }),
  response: {
    200: Type.Object({
      id: uuid('The package.'),
      name: Type.String(),
      version: Type.String(),
      size,
      hash,
      enabled: Type.Boolean({ description: 'False for a version that is in no feed until it is enabled.' }),
      message,
    }),
    ...errorResponses('error', 409, 413, 415),
  },
}

export const downloadSchema = {
  operationId: 'downloadPilet',
  summary: 'The bytes of a version of a pilet, whether it is enabled or not',
  tags,
  params: keyParams,
  produces: '*/*',
  responseHeaders: cachedHeaders,
  response: {
    200: Type.String({ format: 'binary', description: 'The bytes, exactly as uploaded.' }),
    304: notModified,
    ...errorResponses('error'),
  },
}

export const deleteSchema = {
  operationId: 'deletePilet',
  summary: 'Disables a version of a pilet: it is in no feed any more, and stays stored',
  tags,
  params: keyParams,
  response: { 200: Type.Object({ message }), ...errorResponses('error', 413) },
}
