import { Type } from 'typebox'
import { errorResponses, idInPath, notModified, cachedHeaders } from '../../platform/http/http.schemas.ts'

export const languagePackSchema = {
  operationId: 'getLanguagePack',
  summary: 'Returns the texts of an application for a locale, or for its language if there is no exact match',
  tags: ['proxy' as const],
  params: Type.Object({
    applicationId: idInPath('The application'),
    locale: Type.String({ description: 'Locale such as `de` or `de-CH`; case does not matter.' }),
  }),
  response: {
    200: Type.Object({
      locale: Type.String({ description: 'Locale of the returned language pack.' }),
      messages: Type.Object(
        {},
        { additionalProperties: true, description: 'Nested objects; each part of a text key is one level.' },
      ),
    }),
    304: notModified,
    ...errorResponses('error', 404),
  },
  responseHeaders: cachedHeaders,
}
