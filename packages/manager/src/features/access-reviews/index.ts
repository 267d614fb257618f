// The review of access: who and what may do what, since when, whether it is used, and who has answered for it. Access itself is
// not changed here (memberships/, users/, machine-users/, endpoints/, access-tokens/), nor is activity recorded
// (platform/credentials/activity.ts).
import type { Config } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { deriveSecretKey } from '../../platform/secrets/keys.ts'
import { registerAccessReviewRoutes } from './access-reviews.routes.ts'
import { registerAttestForm } from './attest-form.routes.ts'
import { type AttestDeps, createAttestService } from './attest.service.ts'
import { type ReportDeps, createReportService } from './report.service.ts'

type Deps = ReportDeps & AttestDeps & { config: Config }

export const accessReviews = defineFeature({
  name: 'accessReviews',
  role: 'api',
  create: (deps: Deps) => {
    const reports = createReportService(deps)
    const attestations = createAttestService(deps)
    const formKey = deriveSecretKey(deps.config.masterKey, 'access-review-form')
    return {
      routes: (server) => {
        registerAccessReviewRoutes(server, { reports, attestations, formKey })
        registerAttestForm(server, { attestations, formKey })
      },
      schedules: [reports.schedule],
      api: {},
    }
  },
})
