/** Of the interface: the first number changes with what breaks clients, the second with what is added. */
export const API_VERSION = '1.0.0';
