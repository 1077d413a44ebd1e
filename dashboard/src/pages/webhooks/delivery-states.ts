/** The states that deliveries are looked for by. Others last for a moment. */
export const deliveryStates = ['delayed', 'active', 'completed', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]
