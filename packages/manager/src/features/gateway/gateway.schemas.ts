// This schema describes a call to an endpoint. It does not describe the content, which belongs to the caller and the
// partner.
import { Type } from 'typebox'
import { errorResponses } from '../../platform/http/http.schemas.ts'

export const callSchema = {
  operationId: 'callEndpoint',
  summary: 'Forwards the request to an endpoint and returns its response',
  description:
    'The route accepts any body and any method except CONNECT. The listed errors come from the Manager; every other response comes from the endpoint.',
  tags: ['machines' as const],
  path: '/esb/{applicationId}/{endpointPath}',
  params: Type.Object({
    applicationId: Type.String({ description: 'The application, a UUID.' }),
    endpointPath: Type.String({ description: 'The path of the endpoint; it can contain slashes.' }),
  }),
  response: {
    ...errorResponses('error', 403, 404, 413, 502),
    default: Type.Unknown({ description: 'The response of the endpoint: its status, headers and body.' }),
  },
}
