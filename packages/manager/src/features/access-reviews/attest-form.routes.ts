// The form at the end of the page records the same attestation as POST /api/access/review/attest, for the
// whole report. The response to the form is a page.
import type { KeyObject } from 'node:crypto'
import type { Actor } from '../../policy/actor.ts'
import { badRequest, forbidden } from '../../platform/errors.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { acceptOnlyPageForms, refuseForeignForm } from '../../platform/http/pages/forms.ts'
import { sendPage } from '../../platform/http/pages/send-page.ts'
import { isFormToken } from '../../platform/secrets/form-token.ts'
import { attestFormSchema } from './access-reviews.schemas.ts'
import { renderAttestedPage } from './attest.page.ts'
import type { AttestService } from './attest.service.ts'

// A comment may have 2,000 characters of up to 4 bytes, and percent-encoding needs three characters per byte.
const bodyLimit = 32_768

/** Registers the route that accepts the attestation form. */
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
      if (!isFormToken(formKey, { userId: actor.user.id, objectId: reportId }, form_token))
        throw forbidden('the form belongs to another user or report; open the review again')
      if (confirmed !== 'yes')
        throw badRequest('confirmed must be yes: confirm that you have reviewed the entries', 'confirmed')
      const attestation = await attestations.attest(actor, {
        reportId,
        populationHash: null,
        decision,
        // Browsers submit line breaks as CRLF.
        comment: comment.replaceAll('\r\n', '\n').trim(),
        entries: null,
      })
      return sendPage(reply, 200, renderAttestedPage(attestation))
    },
  )
}
