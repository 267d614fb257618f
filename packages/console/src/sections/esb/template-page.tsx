// The template editor of an endpoint, on its own page, because the template and its preview are side by side.
import type { ReactNode } from 'react'
import { useParams } from '@tanstack/react-router'
import { describeFailure } from '../../api/failures.ts'
import { Page } from '../../kit/page.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'
import { TemplateEditor } from './template-editor.tsx'
import { useEndpoint } from './use-endpoint.ts'

export function TemplatePage(): ReactNode {
  const t = useText()
  const { endpoint: id = '' } = useParams({ strict: false })
  const { endpoint, error, refetch } = useEndpoint(id)
  if (endpoint !== undefined) return <TemplateEditor key={endpoint.id} endpoint={endpoint} />
  return (
    <Page title={t('esb.template')}>
      {error === null ? (
        <Skeleton rows={12} />
      ) : (
        <FailureState failure={describeFailure(error)} onRetry={refetch} />
      )}
    </Page>
  )
}
