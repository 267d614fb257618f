// The review of access: who and what may do what, since when, whether it is used, and who has answered for it. Access itself is
// not changed here (memberships/, users/, machine-users/, endpoints/, access-tokens/), nor is activity recorded
// (platform/credentials/activity.ts).
import { defineFeature } from '../../feature.ts'
import { registerAccessReviewRoutes } from './access-reviews.routes.ts'
import { type AttestDeps, createAttestService } from './attest.service.ts'
import { type ReportDeps, createReportService } from './report.service.ts'

type Deps = ReportDeps & AttestDeps

export const accessReviews = defineFeature({
  name: 'accessReviews',
  role: 'api',
  create: (deps: Deps) => {
    const reports = createReportService(deps)
    const attestations = createAttestService(deps)
    return {
      routes: (server) => registerAccessReviewRoutes(server, { reports, attestations }),
      schedules: [reports.schedule],
      api: {},
    }
  },
})
