// Renders the template with the sample body while the person types. The API forwards and saves nothing.
import { useMemo } from 'react'
import { type Failure, describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useDebounced } from '../../app/debounced.ts'
import { type EsbPreviewResult, esbPreviewDocument } from '../../generated/documents.ts'
import { type TemplateProblem, listErrors, listWarnings } from './template-problems.ts'

const pauseMs = 300

export type Preview = {
  /** Undefined while the first result is on its way, and if the template or the body has errors. */
  readonly result: EsbPreviewResult['previewESBTransform'] | undefined
  readonly problems: readonly TemplateProblem[]
  /** Whether the result belongs to an older text. */
  readonly isStale: boolean
  /** The reason why nothing could be rendered, if neither the template nor the body caused it. */
  readonly failure: Failure | null
  readonly refetch: () => void
}

type PreviewInput = { readonly endpointId: string; readonly template: string; readonly body: string }

export function usePreview({ endpointId, template, body }: PreviewInput, isEnabled: boolean): Preview {
  const settledTemplate = useDebounced(template, pauseMs)
  const settledBody = useDebounced(body, pauseMs)
  const isShown = isEnabled && settledTemplate !== ''
  const { data, error, isFetching, refetch } = useRead(
    esbPreviewDocument,
    { id: endpointId, input: { body: settledBody, transformationTemplate: settledTemplate } },
    // Bodies can contain personal data.
    { isEnabled: isShown, keepsPrevious: true, isSensitive: true },
  )
  const result = isShown ? data?.previewESBTransform : undefined
  const failure = useMemo(() => (isShown && error !== null ? describeFailure(error) : null), [isShown, error])
  const problems = useMemo(() => [...listErrors(failure), ...listWarnings(result)], [failure, result])
  return {
    result,
    problems,
    isStale: isShown && (isFetching || template !== settledTemplate || body !== settledBody),
    failure: failure?.kind === 'invalid' ? null : failure,
    refetch: () => void refetch(),
  }
}
