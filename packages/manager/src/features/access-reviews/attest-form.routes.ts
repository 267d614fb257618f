// The form at the end of the page: the same attestation as POST /api/access/review/attest, of the whole report, sent by a
// browser and answered with a page.
import type { KeyObject } from 'node:crypto'
import type { Actor } from '../../policy/actor.ts'
import { badRequest, forbidden } from '../../platform/errors.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { acceptOnlyPageForms, refuseForeignForm } from '../../platform/http/pages/forms.ts'
import { sendPage } from '../../platform/http/pages/send-page.ts'
import { isFormToken } from '../../platform/secrets/form-token.ts'
import { attestFormSchema } from './access-reviews.schemas.ts'
import { attestedPage } from './attest.page.ts'
import type { AttestService } from './attest.service.ts'

// A comment of 2,000 characters that all take four bytes, each byte written as three characters.
const bodyLimit = 32_768

/** Takes the form of the page. */
export function registerAttestForm(
  server: ApiServer,
  { attestations, formKey }: { attestations: AttestService; formKey: KeyObject },
): void {
  void server.register((forms, _options, done) => {
    acceptOnlyPageForms(forms)
    registerForm(forms, { attestations, formKey })
    done()
  })
}

function registerForm(
  server: ApiServer,
  { attestations, formKey }: { attestations: AttestService; formKey: KeyObject },
): void {
  server.post(
    '/api/access/review',
    {
      bodyLimit,
      config: {
        policy: { can: { do: 'ACCESS_REVIEW', on: [], in: 'SYSTEM' } },
        errorShape: 'page',
        audited: ['accessReview attest'],
      },
      schema: attestFormSchema,
    },
    async (request, reply) => {
      refuseForeignForm(request)
      const { form_token, decision, comment, confirmed } = request.body
      const reportId = request.body.report_id.toLowerCase()
      const actor = request.actor as Actor
      if (!isFormToken(formKey, { userId: actor.user.id, thingId: reportId }, form_token))
        throw forbidden('the form was not made for you and this report')
      if (confirmed !== 'yes') throw badRequest('confirmed must be yes: confirm that you have looked')
      const attested = await attestations.attest(actor, {
        reportId,
        populationHash: null,
        decision,
        // Browsers write line ends as two characters.
        comment: comment.replaceAll('\r\n', '\n').trim(),
        entries: null,
      })
      return sendPage(reply, 200, attestedPage(attested))
    },
  )
}
