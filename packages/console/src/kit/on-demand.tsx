// Components whose code is loaded when they are first rendered, so that the first page loads without it.
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'

export type OnDemand<Props> = {
  (props: Props): ReactNode
  /** Starts loading the code, for example when the pointer reaches the button that opens the component. */
  preload: () => void
}

/**
 * Returns a component that renders nothing until its code is loaded, and also renders nothing if loading fails. The
 * notes above the page report the failure, and rendering the component again retries the request.
 */
export function loadOnDemand<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): OnDemand<Props> {
  let cached: ComponentType<Props> | null = null
  const loadOnce = async (): Promise<ComponentType<Props> | null> => {
    try {
      cached ??= await load()
    } catch {
      // Vite has dispatched the event `vite:preloadError`.
    }
    return cached
  }
  function OnDemandComponent(props: Props): ReactNode {
    const [Component, setComponent] = useState(() => cached)
    useEffect(() => {
      let isCurrent = true
      void loadOnce().then((loaded) => {
        if (isCurrent) setComponent(() => loaded)
      })
      return () => {
        isCurrent = false
      }
    }, [])
    return Component === null ? null : <Component {...props} />
  }
  return Object.assign(OnDemandComponent, { preload: () => void loadOnce() })
}
