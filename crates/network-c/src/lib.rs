//! A network whose caller issues the messages, as a C library. `include/odonata_network.h` documents the functions.
//!
//! No panic leaves a function: it becomes an error with a text.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use odonata_error::Error;
use odonata_sim::{Happening, Network, Spec, drive};

/// `odonata_network`: lives while the caller of `odonata_network_drive` is called.
pub struct CNetwork<'a> {
    network: &'a mut dyn Network,
    error: CString,
}

/// `odonata_happening`.
#[repr(C)]
pub struct CHappening {
    at_ps: u64,
    number: u64,
    kind: c_int,
}

const DELIVERY: c_int = 0;
const TIMER: c_int = 1;

const FAILED: c_int = -1;

type Caller = unsafe extern "C" fn(*mut CNetwork<'_>, *mut c_void);

fn text(problem: &str) -> CString {
    CString::new(problem.replace('\0', " ")).expect("no zero is left")
}

/// What `call` returns, or why it does not.
fn caught<T>(call: impl FnOnce() -> Result<T, Error>) -> Result<T, CString> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(|error| text(&error.to_string())),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Err(text(&format!("a defect of Odonata: {}", said.unwrap_or("no text"))))
        }
    }
}

impl CNetwork<'_> {
    /// 1, with what `call` returns written to `to`, or 0 if it returns nothing; on an error -1 with its text kept.
    ///
    /// # Safety
    /// `to` is null or points to memory for a value.
    unsafe fn answer<T>(
        &mut self,
        to: *mut T,
        call: impl FnOnce(&mut dyn Network) -> Result<Option<T>, Error>,
    ) -> c_int {
        match caught(|| call(self.network)) {
            Ok(Some(value)) => {
                if !to.is_null() {
                    // SAFETY: by contract of the function.
                    unsafe { to.write(value) };
                }
                1
            }
            Ok(None) => 0,
            Err(error) => {
                self.error = error;
                FAILED
            }
        }
    }
}

/// Calls `caller` with a network. Returns 0, or -1 with a text in `error`.
///
/// # Safety
/// `specification` points to a string, and `error` to memory for `error_size` bytes or is null with a size of 0. `caller`
/// lets no exception out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn odonata_network_drive(
    specification: *const c_char,
    job: u32,
    caller: Option<Caller>,
    context: *mut c_void,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    let done = match (specification.is_null(), caller) {
        (false, Some(caller)) => caught(|| {
            // SAFETY: by contract of the function.
            let spec = Spec::from_json(&unsafe { CStr::from_ptr(specification) }.to_string_lossy())?;
            drive(&spec, job, &mut |network| {
                let mut network = CNetwork { network, error: CString::default() };
                // SAFETY: by contract of the function.
                unsafe { caller(&raw mut network, context) };
            })
        }),
        _ => Err(text("expected a specification and a function to call, found null")),
    };
    let Err(problem) = done else { return 0 };
    if !error.is_null() && error_size > 0 {
        let shown = &problem.as_bytes()[..problem.as_bytes().len().min(error_size - 1)];
        // SAFETY: there is room for so many bytes and a zero.
        unsafe {
            error.cast::<u8>().copy_from_nonoverlapping(shown.as_ptr(), shown.len());
            error.add(shown.len()).write(0);
        }
    }
    FAILED
}

/// The time of the last happening.
///
/// # Safety
/// `network` is what the caller was called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn odonata_network_now_ps(network: *const CNetwork<'_>) -> u64 {
    // SAFETY: by contract of the function.
    unsafe { &*network }.network.now_ps()
}

/// Number of ranks.
///
/// # Safety
/// `network` is what the caller was called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn odonata_network_ranks(network: *const CNetwork<'_>) -> u32 {
    // SAFETY: by contract of the function.
    unsafe { &*network }.network.ranks()
}

/// Issues a message.
///
/// # Safety
/// `network` is what the caller was called with; `number` is null or points to a `uint64_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn odonata_network_send(
    network: *mut CNetwork<'_>,
    at_ps: u64,
    from: u32,
    to: u32,
    bytes: u64,
    number: *mut u64,
) -> c_int {
    // SAFETY: by contract of the function.
    unsafe { (*network).answer(number, |network| network.send(at_ps, from, to, bytes).map(Some)) }
}

/// Asks for a happening.
///
/// # Safety
/// `network` is what the caller was called with; `number` is null or points to a `uint64_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn odonata_network_schedule(network: *mut CNetwork<'_>, at_ps: u64, number: *mut u64) -> c_int {
    // SAFETY: by contract of the function.
    unsafe { (*network).answer(number, |network| network.schedule(at_ps).map(Some)) }
}

/// Simulates until the next happening.
///
/// # Safety
/// `network` is what the caller was called with; `happening` is null or points to an `odonata_happening`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn odonata_network_advance(network: *mut CNetwork<'_>, happening: *mut CHappening) -> c_int {
    let shown = |happening| match happening {
        Happening::Delivery { at_ps, number } => CHappening { at_ps, number, kind: DELIVERY },
        Happening::Timer { at_ps, number } => CHappening { at_ps, number, kind: TIMER },
    };
    // SAFETY: by contract of the function.
    unsafe { (*network).answer(happening, |network| Ok(network.advance()?.map(shown))) }
}

/// The text of the last error of a network.
///
/// # Safety
/// `network` is what the caller was called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn odonata_network_error(network: *const CNetwork<'_>) -> *const c_char {
    // SAFETY: by contract of the function.
    unsafe { &*network }.error.as_ptr()
}
