// The texts of a frontend, as it loads them.
import { Type } from 'typebox'
import { errorResponses, idInPath, notModified, cachedHeaders } from '../../platform/http/http.schemas.ts'

export const languagePackSchema = {
  operationId: 'getLanguagePack',
  summary: 'The texts of an application in a locale, or in its language',
  tags: ['proxy' as const],
  params: Type.Object({
    applicationId: idInPath('The application'),
    locale: Type.String({ description: 'Such as `de` or `de-CH`, upper or lower case.' }),
  }),
  response: {
    200: Type.Object({
      locale: Type.String({ description: 'The locale of the pack that was found.' }),
      messages: Type.Object(
        {},
        { additionalProperties: true, description: 'Texts by the parts of their keys, nested.' },
      ),
    }),
    304: notModified,
    ...errorResponses('error', 404),
  },
  responseHeaders: cachedHeaders,
}
