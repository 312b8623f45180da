//! Application-aware routing as a C library. `include/odonata_decision.h` documents the functions.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::NonNull;

use odonata_decision::{Counters, Kind, Message, Mode, Operation, Policy, Sample, Settings, prefer_high_bias};

/// `odonata_counters`.
#[repr(C)]
pub struct CCounters {
    request_flits: u64,
    stalled_cycles: u64,
    request_packets: u64,
    latency_cycles: u64,
}

/// `odonata_settings`.
#[repr(C)]
pub struct CSettings {
    threshold_bytes: u64,
    lambda: f64,
    sigma: f64,
    margin: f64,
    seed: u64,
    stream: u64,
    sample_age: u32,
    dwell: u32,
}

const GET: u32 = 1;
const ALLTOALL: u32 = 2;
const CONTROL: u32 = 4;

fn message(bytes: u64, flags: u32) -> Message {
    let operation = if flags & GET == 0 { Operation::Put } else { Operation::Get };
    let (alltoall, control) = (flags & ALLTOALL != 0, flags & CONTROL != 0);
    Message { operation, alltoall, control, ..Message::put(bytes) }
}

/// Fills in the defaults.
///
/// # Safety
/// `settings` is null or points to memory for an `odonata_settings`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn odonata_settings_default(settings: *mut CSettings) {
    let Settings { threshold_bytes, sample_age, lambda, sigma, margin, dwell, seed, stream } = Settings::default();
    if let Some(settings) = NonNull::new(settings) {
        // SAFETY: by contract of the function.
        unsafe {
            settings.write(CSettings { threshold_bytes, lambda, sigma, margin, seed, stream, sample_age, dwell });
        }
    }
}

/// A new policy, or null.
///
/// # Safety
/// `name` is null or points to a string; `settings` is null or points to an `odonata_settings`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn odonata_policy_new(name: *const c_char, settings: *const CSettings) -> *mut Policy {
    if name.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: by contract of the function.
    let (name, settings) = unsafe { (CStr::from_ptr(name), settings.as_ref()) };
    let settings = settings.map_or_else(Settings::default, |c| Settings {
        threshold_bytes: c.threshold_bytes,
        sample_age: c.sample_age,
        lambda: c.lambda,
        sigma: c.sigma,
        margin: c.margin,
        dwell: c.dwell,
        seed: c.seed,
        stream: c.stream,
    });
    let policy = name.to_str().ok().and_then(Kind::named).and_then(|kind| Policy::new(kind, &settings).ok());
    policy.map_or(std::ptr::null_mut(), |policy| Box::into_raw(Box::new(policy)))
}

/// Frees a policy.
///
/// # Safety
/// `policy` is null or comes from `odonata_policy_new`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn odonata_policy_free(policy: *mut Policy) {
    if !policy.is_null() {
        // SAFETY: by contract of the function, it comes from `Box::into_raw`.
        drop(unsafe { Box::from_raw(policy) });
    }
}

/// The mode of the next message, to endpoint 0.
///
/// # Safety
/// `policy` comes from `odonata_policy_new` and no other thread uses it; `observe` is null or points to an `int`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn odonata_policy_select(
    policy: *mut Policy,
    bytes: u64,
    flags: u32,
    observe: *mut c_int,
) -> c_int {
    // SAFETY: by contract of the function.
    unsafe { odonata_policy_select_to(policy, 0, bytes, flags, observe) }
}

/// The mode of the next message, to an endpoint.
///
/// # Safety
/// `policy` comes from `odonata_policy_new` and no other thread uses it; `observe` is null or points to an `int`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn odonata_policy_select_to(
    policy: *mut Policy,
    peer: u64,
    bytes: u64,
    flags: u32,
    observe: *mut c_int,
) -> c_int {
    // SAFETY: by contract of the function.
    let (Some(policy), observe) = (unsafe { policy.as_mut() }, unsafe { observe.as_mut() }) else {
        return Mode::Adaptive as c_int;
    };
    let decision = policy.select(Message { peer, ..message(bytes, flags) });
    if let Some(observe) = observe {
        *observe = decision.observe.into();
    }
    decision.mode as c_int
}

/// What was counted for a message.
///
/// # Safety
/// `policy` comes from `odonata_policy_new` and no other thread uses it; `counters` points to an `odonata_counters`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn odonata_policy_observe(policy: *mut Policy, mode: c_int, counters: *const CCounters) {
    // SAFETY: by contract of the function.
    let (Some(policy), Some(counters)) = (unsafe { policy.as_mut() }, unsafe { counters.as_ref() }) else { return };
    let &CCounters { request_flits, stalled_cycles, request_packets, latency_cycles } = counters;
    if let Some(mode) = u8::try_from(mode).ok().and_then(Mode::numbered) {
        policy.observe(mode, Counters { request_flits, stalled_cycles, request_packets, latency_cycles });
    }
}

/// Equations 1 and 2.
#[unsafe(no_mangle)]
pub extern "C" fn odonata_transmission_time(
    bytes: u64,
    flags: u32,
    latency: f64,
    stalls: f64,
    outstanding: u32,
) -> f64 {
    Sample::new(latency, stalls).map_or(f64::NAN, |sample| {
        odonata_decision::transmission_time(message(bytes, flags).size(), sample, Some(outstanding))
    })
}

/// Equation 3.
#[unsafe(no_mangle)]
pub extern "C" fn odonata_prefer_high_bias(
    bytes: u64,
    flags: u32,
    latency_default: f64,
    stalls_default: f64,
    latency_high_bias: f64,
    stalls_high_bias: f64,
) -> c_int {
    match (Sample::new(latency_default, stalls_default), Sample::new(latency_high_bias, stalls_high_bias)) {
        (Some(default), Some(high_bias)) => prefer_high_bias(message(bytes, flags).size(), default, high_bias).into(),
        _ => -1,
    }
}
